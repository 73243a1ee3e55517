"""Files of a results folder, read and checked, as :mod:`mercer._system.results` does it."""

from mercer._system.results import check_folder, only_from, read_json, read_table

__all__ = ["check_folder", "only_from", "read_json", "read_table"]
