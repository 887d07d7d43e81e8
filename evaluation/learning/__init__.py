"""How well recollect learns, changes and corrects what it believes, on sets of our own.

``python -m evaluation.learning`` (or ``make eval-learning``) plays every case through the public
interface and looks at what is believed afterwards. The sets were written as people speak, without
a look at the rules. Half of each set (``held``) is kept from whoever tunes the rules: of it only
totals are ever shown.
"""
