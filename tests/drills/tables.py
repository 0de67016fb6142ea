"""What the file sinks of a drill's job have written."""
import collections
import json
import os


def part_number(name):
    return int(name.split(".")[0].rsplit("-", 1)[1])


def rows_of(folder):
    """The bytes of a table's files in the order in which they were made; those of a lane have rising numbers."""
    def age(name):
        return os.stat(os.path.join(folder, name)).st_mtime_ns, part_number(name)

    names = sorted((name for name in os.listdir(folder) if name.startswith("part-")), key=age)
    content = b""
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            content += file.read()
    return content


def changes_of(folder, columns):
    """The changes of each key of a table in Debezium's JSON. All of a life come from one lane, in whose files they are in order."""
    changes = collections.defaultdict(list)
    for line in rows_of(folder).splitlines():
        change = json.loads(line)
        row = change["before"] if change["op"] == "d" else change["after"]
        changes[tuple(row[column] for column in columns)].append(line)
    return changes


def last_of(folder, columns):
    """What these changes come to: of each key the last one, if that is no deletion."""
    return {key: lines[-1] for key, lines in changes_of(folder, columns).items() if json.loads(lines[-1])["op"] != "d"}


def hidden_in(folder):
    """Names of files that nobody was shown."""
    return [name for name in os.listdir(folder) if name.startswith(".")]
