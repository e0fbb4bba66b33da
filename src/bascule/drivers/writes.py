"""How the ids of writes are told apart by those who carry them."""

# A write whose id begins so belongs to the agent's process, not to one session of it: several sessions may
# owe it, and it is written once for all of them.
FOR_ALL = "@"
