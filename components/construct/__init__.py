"""Components of this package for programs in any of Pulumi's languages, through `Construct` of the plugin.

`schema.py` makes their part of the plugin's schema from the models of settings and the classes, `inputs.py` reads what
a program gives into settings and says mistakes in the program's own spelling, `answer.py` makes the component: the very
class that programs in Python use, so that both ways give the same resources. Importing this package loads none of them.
"""
