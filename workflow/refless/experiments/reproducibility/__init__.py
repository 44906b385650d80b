"""How far the published numbers come out, over the tables of all papers."""
