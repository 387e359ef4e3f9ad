"""How long anything waits, in seconds, and why: every limit that nobody sets.

What people set is elsewhere: ``timeout`` of an engine, the settings of a service, ``seconds`` of a search or an audit.
A limit follows others where one must be longer than another, so all of them stand on one page.
"""

from __future__ import annotations

__all__ = [
    "ANSWER_WAIT",
    "BODY",
    "BODY_LOOK",
    "CENSUS_PROGRAM",
    "CLIENT_ANSWER",
    "CLIENT_CONNECT",
    "CLIENT_FIRST_PAUSE",
    "CLIENT_LONGEST_PAUSE",
    "CLIENT_WAIT",
    "HAND_OVER",
    "HAND_OVER_END",
    "HEAD_SENT",
    "HEALTH_KEPT",
    "INTERRUPT_LOOK",
    "LAB_AUDIT",
    "LEASE",
    "LEDGER_CONNECT",
    "LEDGER_LOCK",
    "LEDGER_SILENCE",
    "LEDGER_SILENT_SINCE",
    "LINEAR_PROGRAM",
    "PAGE_RECONNECT",
    "POST_PROCESSING",
    "PRESENCE_AGAIN",
    "PRESENCE_LOOK",
    "REPLAY_KEPT",
    "ROWS_CANCEL",
    "ROWS_CONNECT",
    "ROWS_LOCK",
    "ROWS_REACH",
    "SESSION",
    "SPARK_ANSWER",
    "SQLITE_BUSY",
    "SQLITE_LOOK",
    "SURVEY_END",
    "UPLOAD_KEPT",
    "WORKER_LOOK",
]

# Databases of the ledger, the service and surveys.
SQLITE_BUSY = 60.0
"""For another process that writes the same file: longer than any transaction of ours."""
PRESENCE_AGAIN = 2.0
"""For a server to see that a connection of ours has ended, so that a new one holds what that one held."""
PRESENCE_LOOK = 0.02
"""Between two looks whether it has."""
SQLITE_LOOK = 0.001
"""Between two looks whether that process is done."""
LEDGER_CONNECT = 5
"""Until a PostgreSQL server that holds the ledger takes a connection."""
LEDGER_LOCK = 15
"""For the write lock, after which the server says so."""
LEDGER_SILENCE = 20.0
"""Without a word of the server, after which it is given up: longer than `LEDGER_LOCK`."""
LEDGER_SILENT_SINCE = 3.0
"""In which nobody waits for a server that was silent a moment ago: those who ask hear at once that it is."""

# Servers that hold rows.
ROWS_CONNECT = 10
"""Until a PostgreSQL server that holds rows takes a connection."""
ROWS_REACH = 15.0
"""In which a server that is well says that it is there, before a question is charged: longer than `ROWS_CONNECT`."""
ROWS_LOCK = 60
"""For somebody who changes a table."""
ROWS_CANCEL = 1.0
"""In which a server that is well gives up a statement; then the line is cut."""
SPARK_ANSWER = 10
"""In which a server of Spark Connect gives an answer that needs no work."""

# Questions.
POST_PROCESSING = 30.0
"""For post-processing. It sees noisy and public values alone, so how long it takes says nothing more."""
INTERRUPT_LOOK = 0.1
"""Between two looks at work or a lock, so that Ctrl-C is noticed even if a library replaced the handler of SIGINT."""

# Attacks and audits.
LINEAR_PROGRAM = 60.0
"""For one linear program, after which the best that was found counts."""
CENSUS_PROGRAM = 20.0
"""For that of an attack on census tables, of which a scoreboard runs many."""
LAB_AUDIT = 600.0
"""For an audit in the lab, which has few places."""

# HTTP.
BODY = 20.0
"""For the body of a request, besides the time that its bytes take."""
BODY_LOOK = 1.0
"""Between two looks at a connection that sends."""
HAND_OVER = 15.0
"""Until somebody hears that no process answers: longer than one takes to end and the next to begin."""
HAND_OVER_END = 2.0
"""In which a process that ends finishes what was handed to it."""

# The service.
LEASE = 4.0
"""For which a worker holds a request without renewing its lease."""
ANSWER_WAIT = 60.0
"""For which a request may wait for its answer; it can be sent again."""
HEALTH_KEPT = 1.0
"""For which a look at the databases is believed."""
REPLAY_KEPT = 30.0
"""For which a replay of the ledger is told again, unless something was recorded since."""
HEAD_SENT = 10.0
"""In which an address takes a signed head."""
WORKER_LOOK = 60
"""In which a worker says that it is there; a busy machine is no reason to end one."""
UPLOAD_KEPT = 6 * 3600.0
"""For which an upload waits to be taken in."""
SESSION = 12 * 3600.0
"""For which a session of the console lives."""
SURVEY_END = 10
"""In which a survey's server finishes what is under way when it ends."""

PAGE_RECONNECT = 30.0
"""For which a page of the console waits for a browser that lost its connection."""

# The client.
CLIENT_CONNECT = 10.0
"""Until a service takes a connection."""
CLIENT_ANSWER = 20.0
"""For an answer, besides the time for which the service may hold the request."""
CLIENT_WAIT = 25.0
"""For which the service may hold a request before it says that it takes longer: proxies cut off after 30 or 60."""
CLIENT_FIRST_PAUSE = 0.1
"""Before a request that failed is sent again; it doubles up to `CLIENT_LONGEST_PAUSE`."""
CLIENT_LONGEST_PAUSE = 5.0
"""The longest such pause."""
