"""Asks questions through the balancer, follows the answers, and checks afterwards that nothing was lost or doubled."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from footnote.text.boundary import unwrap_web_text
from replicas.cluster import TIMEOUT, Cluster, Replica
from replicas.run_follower import Follower, SeenFrames
from replicas.scripted_work import ScriptedWork, expected_report
from runs.fold import FoldedTurn, blocks_of_history
from runs.server_process import RunClient

UPLOAD = "notes.txt"


@dataclass
class FollowedRun:
    """A run that was accepted, and the followers of its events."""

    name: str
    session_id: str
    run_id: str
    followers: list[Follower]
    upload: bytes | None = None
    """The upload beside the question, if it was accepted."""


@dataclass
class LoadGenerator:
    """Starts and follows runs. A refused request counts as not asked; an accepted one must be kept."""

    cluster: Cluster
    work: ScriptedWork
    runs: list[FollowedRun] = field(default_factory=list[FollowedRun])
    refused: int = 0
    allowed_states: tuple[str, ...] = ("done",)
    """The states in which a run may have ended."""
    uploads: bool = False
    """Whether each question comes with an upload."""
    seen_frames: SeenFrames = field(default_factory=SeenFrames)
    _follow_tasks: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])

    async def ask(self, name: str, at: Replica | None = None, *, followers: int = 1) -> FollowedRun | None:
        """`at`: the replica to ask instead of the balancer. Returns None if the question was not accepted."""
        async with (self.cluster if at is None else at).client() as client:
            try:
                async with asyncio.timeout(20):
                    session_id = await client.session()
                    run_id = await client.start(session_id, f"Tell me about {name}")
            except (aiohttp.ClientError, ConnectionError, TimeoutError, AssertionError):
                self.refused += 1
                return None
            run = FollowedRun(name, session_id, run_id, [])
            self.runs.append(run)
            if self.uploads:
                run.upload = await _upload(client, session_id, f"Notes on {name}. ".encode() * 5000)
        for _ in range(followers):
            follower = Follower(self.cluster.url, run_id, self.seen_frames)
            run.followers.append(follower)
            self._follow_tasks.append(asyncio.create_task(follower.follow_to_end()))
        return run

    async def wait_until_started(self, count: int) -> None:
        """Waits until so many followers have received text of their runs."""
        async with asyncio.timeout(TIMEOUT):
            while sum(bool(one.folded.blocks) for run in self.runs for one in run.followers) < count:
                await asyncio.sleep(0.01)

    async def wait_for_all(self) -> None:
        await asyncio.gather(*self._follow_tasks)

    async def close(self) -> None:
        for task in self._follow_tasks:
            task.cancel()
        await asyncio.gather(*self._follow_tasks, return_exceptions=True)

    async def check(self) -> None:
        """After all runs have ended and every replica is up: all replicas return the same, and it is what followers
        received."""
        await asyncio.gather(*(self._check(run) for run in self.runs))
        await self._check_no_orphans()

    async def _check_no_orphans(self) -> None:
        """Checks that no run stays active, including those whose request was accepted although its response was
        lost."""
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

    async def _check(self, run: FollowedRun) -> None:
        view, history, replay, report, upload = await self._agreed_state(run)
        assert view["state"] in self.allowed_states, view
        assert history["active_run"] is None
        assert [one["role"] for one in history["messages"]].count("user") == 1
        assert replay.count(b"\nevent: message_stop\n") == 1, "it ended once"
        folded = FoldedTurn()
        folded.feed(replay)
        for follower in run.followers:
            assert follower.folded.shown == folded.shown, "who follows sees what is stored"
        # Events stored by an earlier version contain the markers around web text, which the history removes.
        shown = [
            {**block, "content": unwrap_web_text(block["content"])} if block["type"] == "tool_result" else block
            for block in folded.shown["blocks"]
        ]
        assert blocks_of_history(history, view["message_id"]) == shown, "and so does who comes later"
        assert report == expected_report(run.name, history)
        assert run.upload in (None, upload), "what was taken is kept"
        if view["state"] == "done":
            self.work.check_effects(history)

    async def _agreed_state(self, run: FollowedRun) -> tuple[Any, Any, bytes, str | None, bytes | None]:
        """The state that all replicas agree on. A replica that was paused may need until its next heartbeat to learn
        that it lost a run; until then it returns events that it could not store."""
        unlike: list[Any] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(TIMEOUT):
                while True:
                    first, *others = [await self._read_state(replica, run) for replica in self.cluster.replicas]
                    unlike = [pair for one in others for pair in zip(first, one, strict=True) if pair[0] != pair[1]]
                    if not unlike:
                        return first
                    await asyncio.sleep(0.5)
        raise AssertionError(f"replicas tell different things of {run.run_id}: {unlike}")

    async def _read_state(self, replica: Replica, run: FollowedRun) -> tuple[Any, Any, bytes, str | None, bytes | None]:
        async with replica.client() as client:
            view = await client.json("GET", f"/v2/runs/{run.run_id}")
            history = await client.json("GET", f"/v2/sessions/{run.session_id}/history")
            files = f"/v2/sessions/{run.session_id}/files"
            report = await _read(client, f"{files}/raw?file_path=/report.md")
            upload = await _read(client, f"{files}/raw?file_path={UPLOAD}")
            stream = await replay(client, run.run_id)
        return view, history, stream, None if report is None else report.decode(), upload


async def _upload(client: RunClient, session_id: str, content: bytes) -> bytes | None:
    """The content that was uploaded. None: it was not accepted."""
    data = aiohttp.FormData()
    data.add_field("file", content, filename=UPLOAD, content_type="text/plain")
    try:
        async with client.http.post(f"/v2/sessions/{session_id}/files", data=data) as response:
            return content if response.status == 201 else None
    except (aiohttp.ClientError, ConnectionError, TimeoutError):
        return None


async def _read(client: RunClient, path: str) -> bytes | None:
    """The content of the file. None: there is no such file."""
    async with client.http.get(path) as response:
        assert response.status in (200, 404), await response.text()
        return await response.read() if response.status == 200 else None


async def replay(client: RunClient, run_id: str) -> bytes:
    """All stored events of a run that has ended."""
    async with client.http.get(f"/v2/runs/{run_id}/events") as response:
        assert response.status == 200, await response.text()
        return await response.read()
