"""Questions through the balancer, followed to their end, and what must hold of every one of them afterwards."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from footnote.web_search.boundary import unwrap_web_text
from replicas.cluster import TIMEOUT, Cluster, Replica
from replicas.following import Follower, SeenFrames
from replicas.work import ScriptedWork, expected_report
from runs.fold import FoldedTurn, blocks_of_history
from runs.serving import Client

UPLOAD = "notes.txt"


@dataclass
class AskedRun:
    """A question that was taken, and who followed its answer."""

    name: str
    session_id: str
    run_id: str
    followers: list[Follower]
    upload: bytes | None = None
    """What was uploaded beside it, if that was taken."""


@dataclass
class LoadGenerator:
    """Asks and follows. What is refused while a service is away was not asked; what was answered must be kept."""

    cluster: Cluster
    work: ScriptedWork
    runs: list[AskedRun] = field(default_factory=list[AskedRun])
    refused: int = 0
    allowed_states: tuple[str, ...] = ("done",)
    """How a run may have ended."""
    uploads: bool = False
    """Whether each question has a file beside it."""
    seen_frames: SeenFrames = field(default_factory=SeenFrames)
    _follow_tasks: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])

    async def ask(self, name: str, at: Replica | None = None, *, followers: int = 1) -> AskedRun | None:
        """`at`: the replica that is asked, else whichever the balancer picks. None: it was not taken."""
        async with (self.cluster if at is None else at).client() as client:
            try:
                async with asyncio.timeout(20):
                    session_id = await client.session()
                    run_id = await client.start(session_id, f"Tell me about {name}")
            except (aiohttp.ClientError, ConnectionError, TimeoutError, AssertionError):
                self.refused += 1
                return None
            told = AskedRun(name, session_id, run_id, [])
            self.runs.append(told)
            if self.uploads:
                told.upload = await _upload(client, session_id, f"Notes on {name}. ".encode() * 5000)
        for _ in range(followers):
            follower = Follower(self.cluster.url, run_id, self.seen_frames)
            told.followers.append(follower)
            self._follow_tasks.append(asyncio.create_task(follower.follow_to_end()))
        return told

    async def wait_for_all(self) -> None:
        await asyncio.gather(*self._follow_tasks)

    async def close(self) -> None:
        for task in self._follow_tasks:
            task.cancel()
        await asyncio.gather(*self._follow_tasks, return_exceptions=True)

    async def check(self) -> None:
        """Once all have ended and every replica is up: each of them tells the same, and it is what was seen."""
        await asyncio.gather(*(self._check(told) for told in self.runs))
        await self._check_no_orphans()

    async def _check_no_orphans(self) -> None:
        """Also of what was asked and never answered: it was taken or it was not, and what was taken comes to an end."""
        active: list[str] = []
        async with self.cluster.client() as client:
            with suppress(TimeoutError):
                async with asyncio.timeout(TIMEOUT):
                    while True:
                        found = (await client.json("GET", "/v2/sessions?limit=100"))["sessions"]
                        active = [one["active_run_id"] for one in found if one["active_run_id"]]
                        if not active:
                            return
                        await asyncio.sleep(0.2)
        raise AssertionError(f"nobody carries these on: {active}")

    async def _check(self, told: AskedRun) -> None:
        view, history, replay, report, upload = await self._agreed_state(told)
        assert view["state"] in self.allowed_states, view
        assert history["active_run"] is None
        assert [one["role"] for one in history["messages"]].count("user") == 1
        assert replay.count(b"\nevent: message_stop\n") == 1, "it ended once"
        folded = FoldedTurn()
        folded.feed(replay)
        for follower in told.followers:
            assert follower.folded.shown == folded.shown, "who follows sees what is stored"
        # Events of an earlier version have the marks around web text, which no history shows.
        shown = [
            {**block, "content": unwrap_web_text(block["content"])} if block["type"] == "tool_result" else block
            for block in folded.shown["blocks"]
        ]
        assert blocks_of_history(history, view["message_id"]) == shown, "and so does who comes later"
        assert report == expected_report(told.name, history)
        assert told.upload in (None, upload), "what was taken is kept"
        if view["state"] == "done":
            self.work.check_effects(history)

    async def _agreed_state(self, told: AskedRun) -> tuple[Any, Any, bytes, str | None, bytes | None]:
        """What every replica tells. One that stood still may need until its next sign of life to see that it lost a
        run, and tells until then what it had said and could not store."""
        unlike: list[Any] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(TIMEOUT):
                while True:
                    first, *others = [await self._read_state(replica, told) for replica in self.cluster.replicas]
                    unlike = [pair for one in others for pair in zip(first, one, strict=True) if pair[0] != pair[1]]
                    if not unlike:
                        return first
                    await asyncio.sleep(0.5)
        raise AssertionError(f"replicas tell different things of {told.run_id}: {unlike}")

    async def _read_state(self, replica: Replica, told: AskedRun) -> tuple[Any, Any, bytes, str | None, bytes | None]:
        async with replica.client() as client:
            view = await client.json("GET", f"/v2/runs/{told.run_id}")
            history = await client.json("GET", f"/v2/sessions/{told.session_id}/history")
            files = f"/v2/sessions/{told.session_id}/files"
            report = await _read(client, f"{files}/raw?file_path=/report.md")
            upload = await _read(client, f"{files}/raw?file_path={UPLOAD}")
            stream = await replay(client, told.run_id)
        return view, history, stream, None if report is None else report.decode(), upload


async def _upload(client: Client, session_id: str, content: bytes) -> bytes | None:
    """What was uploaded. None: it was not taken."""
    data = aiohttp.FormData()
    data.add_field("file", content, filename=UPLOAD, content_type="text/plain")
    try:
        async with client.http.post(f"/v2/sessions/{session_id}/files", data=data) as answer:
            return content if answer.status == 201 else None
    except (aiohttp.ClientError, ConnectionError, TimeoutError):
        return None


async def _read(client: Client, path: str) -> bytes | None:
    """None: there is no such file."""
    async with client.http.get(path) as answer:
        assert answer.status in (200, 404), await answer.text()
        return await answer.read() if answer.status == 200 else None


async def replay(client: Client, run_id: str) -> bytes:
    """All stored events of a run that has ended."""
    async with client.http.get(f"/v2/runs/{run_id}/events") as answer:
        assert answer.status == 200, await answer.text()
        return await answer.read()
