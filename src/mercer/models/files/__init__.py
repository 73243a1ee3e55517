"""Files of fitted models that are safe to open, whoever wrote them.

A model file is a zip archive that skops writes, with a card and digests added (``_model_file``,
``_model_card``, ``_archive``).  Nothing is unpickled: every type in it must be on a list
(``_schema``), and what compiled code will follow without looking is checked first (``_sound``).
"""
