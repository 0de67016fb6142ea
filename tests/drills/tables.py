"""What the file sinks of a drill's job have written."""
import os


def part_number(name):
    return int(name.split(".")[0].rsplit("-", 1)[1])


def rows_of(folder):
    """The bytes of a table's files in the order in which they were made."""
    names = sorted((name for name in os.listdir(folder) if name.startswith("part-")), key=part_number)
    content = b""
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            content += file.read()
    return content


def hidden_in(folder):
    """Names of files that nobody was shown."""
    return [name for name in os.listdir(folder) if name.startswith(".")]
