"""Quality of a generated text from its meaning representation alone, by a recurrent network.

Stage: prediction. In: rated outputs with their MRs, human references. Out: training data with
synthetic errors (`delex`, `synthesis`, `data`), and predictions of the network trained on it.

Source: Dušek, Novikova & Rieser (2017), "Referenceless Quality Estimation for Natural Language
Generation".
"""
