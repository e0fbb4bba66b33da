"""A session's repository, changed by a person: stage, revert, commit, pull request. No session token may."""

from bascule.hub.calls.forwarding import forwarding
from bascule.link.git import CommitFiles, OpenPullRequest, PlanPullRequest, RevertFile, StageFiles

ONE = "/api/sessions/{session_id}/git"
OPERATIONS = (
    forwarding(
        StageFiles,
        name="session:stage",
        method="POST",
        path=ONE + "/stage",
        need="operator",
        summary="Stage or unstage files",
        seconds=45,
    ),
    forwarding(
        RevertFile,
        name="session:revert",
        method="POST",
        path=ONE + "/revert",
        need="operator",
        summary="Revert a file to the last commit, or undo a revert",
        seconds=45,
    ),
    forwarding(
        CommitFiles,
        name="session:commit",
        method="POST",
        path=ONE + "/commit",
        need="operator",
        summary="Commit files; the repository's hooks are not run",
        seconds=45,
    ),
    forwarding(
        PlanPullRequest,
        name="session:pull-request-plan",
        method="GET",
        path=ONE + "/pull-request",
        need="operator",
        summary="Show where a pull request of the session's branch would go",
        seconds=60,
    ),
    forwarding(
        OpenPullRequest,
        name="session:pull-request",
        method="POST",
        path=ONE + "/pull-request",
        need="operator",
        summary="Push the branch and open a pull request with gh or glab",
        seconds=300,
    ),
)
