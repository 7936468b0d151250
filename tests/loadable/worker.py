"""A host program in Python: takes one JSON command per line, gives one JSON answer per line. Run by `hosts.py`.

usage: worker.py debian | worker.py apsw FOLDER
"""

import json
import sys

import connections
import scenes
import scenes_in_place
import scenes_stopped


def plain(value):
    """A value of SQLite as JSON can carry it."""
    return {"blob": value.hex()} if isinstance(value, bytes) else value


def original(value):
    return bytes.fromhex(value["blob"]) if isinstance(value, dict) else value


def answer(command, open_connections, connect):
    name = command.get("name")
    match command["do"]:
        case "open":
            open_connections[name] = connect(command["path"], command["mode"])
        case "load":
            open_connections[name].load(command["library"])
        case "rows":
            values = [original(value) for value in command["values"]]
            rows = open_connections[name].rows(command["sql"], *values)
            return [[plain(value) for value in row] for row in rows]
        case "close":
            open_connections.pop(name).close()
        case "scene":
            name = command["scene"]
            scene = next(getattr(room, name) for room in (scenes, scenes_in_place, scenes_stopped) if hasattr(room, name))
            return scene(connect, *command["arguments"])


def main():
    if sys.argv[1] == "apsw":
        sys.path.insert(0, sys.argv[2])
    connect = connections.Apsw if sys.argv[1] == "apsw" else connections.Sqlite3
    open_connections = {}
    for line in sys.stdin:
        try:
            reply = {"value": answer(json.loads(line), open_connections, connect)}
        except connections.SqliteError as error:
            reply = {"error": str(error)}
        print(json.dumps(reply), flush=True)


main()
