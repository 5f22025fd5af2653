"""The helpers and guards that all other tests lean on."""

import asyncio
import os
import socket
import subprocess
import sys

import pytest

from tests.conftest import NetworkForbiddenError
from tests.support import eventually


async def test_a_test_gets_the_answer_it_waited_for():
    answers = iter([None, "", "here"])
    assert await eventually(lambda: next(answers)) == "here"


async def test_a_test_may_wait_for_an_async_answer():
    async def ask():
        return "here"

    assert await eventually(ask) == "here"


async def test_a_failed_assertion_counts_as_not_yet():
    answers = iter([1, 2, 3])

    def three():
        assert next(answers) == 3
        return True

    assert await eventually(three)


async def test_what_never_comes_true_is_named():
    def the_moon_is_green():
        return 0

    with pytest.raises(AssertionError, match=r"the_moon_is_green .* within 0 s; last: 0"):
        await eventually(the_moon_is_green, within=0)


@pytest.mark.parametrize("host", ["example.org", "192.0.2.1", "2001:db8::1"])
def test_no_test_resolves_a_strangers_name(host):
    with pytest.raises(NetworkForbiddenError, match=host):
        socket.getaddrinfo(host, 443)


async def test_no_test_opens_a_connection_to_a_stranger():
    with pytest.raises(NetworkForbiddenError):
        await asyncio.open_connection("192.0.2.1", 443)


async def test_loopback_stays_open(free_port):
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", free_port)
    async with server:
        reader, writer = await asyncio.open_connection(
            "localhost", free_port, family=socket.AF_INET
        )
        assert await reader.read() == b""
        writer.close()


def test_a_developers_keys_stay_out():
    program = "import os; print(*[n for n in os.environ if n.startswith(('SLACK_', 'OPENAI_'))])"
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert answer.stdout.strip() == b""
    assert "INTERLOCK_MODEL" not in os.environ


def test_a_private_redis_answers_and_keeps_its_writes(redis_server):
    with socket.create_connection(("127.0.0.1", redis_server.port)) as line:
        line.sendall(b"CONFIG GET appendfsync\r\n")
        assert b"always" in line.recv(256)
