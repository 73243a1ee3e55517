"""The fixtures of studies: a small one, and no data but what comes with scikit-learn."""

from studies.toy import no_data_folder, toy  # noqa: F401
