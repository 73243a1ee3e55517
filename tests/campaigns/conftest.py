"""What all campaigns share: each has a command of its own, `make help` lists them."""

collect_ignore = ["peers"]  # other people's tests need environments of their own: `make peers`
