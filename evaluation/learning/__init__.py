"""How well standfast learns, changes and corrects what it believes, on sets of our own.

``python -m evaluation.learning`` (or ``make eval-learning``) plays every case through the public
interface and looks at what is believed afterwards. The sets were written as people speak, without
a look at the rules. Half of each set (``held``) was kept from whoever tuned the rules until both
halves had been used for it; since then a second set (``second``), written before the rules were
touched again, is what is held back. Of both only totals are ever shown.
"""
