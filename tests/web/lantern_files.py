"""The files and changes of lantern's main session, as its device tells them."""

from typing import Any

from bascule.daemon.files.finding import best
from bascule.link.files import (
    FileChange,
    FileContent,
    FileItem,
    FileList,
    FindFiles,
    FoundFiles,
    GitChanges,
    ListFiles,
    ReadChanges,
    ReadFile,
)

AT = "2026-11-12T13:00:00.000Z"
TREE = {
    "": [
        ("api", 0),
        ("lantern", 0),
        ("migrations", 0),
        ("tests", 0),
        ("README.md", 4_200),
        ("pyproject.toml", 1_900),
    ],
    "lantern": [("upload", 0), ("__init__.py", 0), ("config.py", 2_300)],
    "lantern/upload": [("parts.py", 812), ("service.py", 5_400), ("store.py", 3_100)],
}
PATHS = [
    f"{folder}/{name}" if folder else name for folder, rows in TREE.items() for name, _ in rows if "." in name
]
PARTS_TEXT = '''"""Which parts of an upload have arrived, by number and digest."""

from lantern.db import Pool


class Parts:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def claim(self, upload: str, number: int, digest: bytes) -> bool:
        """True when this part is new; False when it is a repeat of the same bytes."""
        row = await self.pool.fetchrow(CLAIM, upload, number, digest)
        return row is not None
'''
SERVICE_PATCH = """@@ -86,7 +86,9 @@ class UploadService:
     async def put_part(self, upload, n, body):
-        await self.store.write(upload.key, n, body)
-        upload.parts += 1
+        digest = await self.store.write(upload.key, n, body)
+        if not await self.parts.claim(upload.id, n, digest):
+            return Part(n, digest, repeated=True)
+        upload.parts = await self.parts.count(upload.id)
         return Part(n, digest)
@@ -101,3 +103,7 @@ class UploadService:
     async def head(self, upload):
         return upload.parts
+
+    async def resume(self, upload_id):
+        have = await self.parts.list(upload_id)
+        return Missing(have)
"""
MIGRATION = """@@ -0,0 +1,4 @@
+CREATE TABLE parts (
+    upload text, number int, digest bytea,
+    PRIMARY KEY (upload, number)
+);"""


def told(command: Any) -> object | None:
    """What this device says about its files; None when the question is about something else."""
    match command:
        case ListFiles(path=path):
            rows = TREE.get(path, [])
            items = [FileItem(name, "file" if "." in name else "folder", size, AT) for name, size in rows]
            return FileList(path, items, False)
        case FindFiles(q=q, limit=limit):
            return FoundFiles(best(PATHS, q, limit))
        case ReadFile(path=path):
            return FileContent(path, len(PARTS_TEXT), AT, False, False, PARTS_TEXT)
        case ReadChanges():
            return GitChanges(
                "resume-uploads",
                [
                    FileChange("upload/service.py", "modified", 8, 2, SERVICE_PATCH),
                    FileChange("migrations/0042_upload_parts.sql", "untracked", 4, 0, MIGRATION),
                    FileChange("docs/upload.png", "modified", 0, 0, "", binary=True),
                ],
            )
        case _:
            return None
