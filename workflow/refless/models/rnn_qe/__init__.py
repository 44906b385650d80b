"""Quality of a text from its meaning representation or context alone, by a recurrent network.

Source: Dušek, Novikova & Rieser (2017), "Referenceless Quality Estimation for Natural Language
Generation".
"""
