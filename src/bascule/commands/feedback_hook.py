"""The hook's old module name, which Claude settings written by earlier versions still run.

`bascule feedback on` writes the new name, `bascule.hooks.claude.feedback_hook`.
"""

from bascule.hooks.claude.feedback_hook import run

if __name__ == "__main__":
    run()
