"""What the command says about itself: examples run, the four texts agree, every error code is made by its example."""
import json
import os
import re
import shlex
import subprocess


def shell(rowtide, folder, command):
    """Runs a command line in which `rowtide` is the one that is tested."""
    path = os.path.dirname(rowtide) + os.pathsep + os.environ["PATH"]
    return subprocess.run(["bash", "-c", command], cwd=folder, env=dict(os.environ, PATH=path), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)


def says(rowtide, folder, *arguments):
    return subprocess.run([rowtide, *arguments], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=60, check=False).stdout


def verbs_of(overview):
    lines = overview.split("\nVerbs:\n")[1].split("\n\n")[0].split("\n")
    return [re.match(r"  (\S.*?)  ", line + "  ").group(1) for line in lines if re.match(r"  \S", line)]


def options_of(help_text):
    entries = re.findall(r"(?m)^  (-\S.*?)(?:  |$)", help_text.split("\nOptions:\n")[1].split("\n\n")[0])
    return sorted(name for entry in entries for name in re.findall(r"(?<![\w-])--?[a-z][\w-]*", entry))


def examples_of(help_text):
    if "\nExamples:\n" not in help_text:
        return []
    return re.findall(r"(?m)^  (rowtide .*)$", help_text.split("\nExamples:\n")[1])


def check_examples(rowtide, lab, verbs):
    for verb in verbs:
        text = says(rowtide, lab, "help", verb)
        yield f"{verb} --help is help {verb}", None if says(rowtide, lab, *verb.split(), "--help") == text else "it is not"
        examples = examples_of(text)
        yield f"help {verb} has examples", None if examples else "none"
        for example in examples:
            done = shell(rowtide, lab, example)
            fault = None if done.returncode == 0 else f"exit {done.returncode}\n{done.stderr[-600:]}"
            yield f"example: {example[:70]}", fault


def bash_completions(rowtide, lab, words):
    script = says(rowtide, lab, "completion", "bash")
    run = f"{script}\nCOMP_WORDS=({' '.join(shlex.quote(word) for word in words)})\nCOMP_CWORD={len(words) - 1}\n" \
          "_rowtide; printf '%s\\n' \"${COMPREPLY[@]}\""
    return set(subprocess.run(["bash", "-c", run], cwd=lab, text=True, stdout=subprocess.PIPE, check=False).stdout.split())


def check_topics(rowtide, lab):
    connectors, settings = says(rowtide, lab, "help", "connectors"), says(rowtide, lab, "help", "settings")
    wanted = ["filesystem", "path (required)", "datagen", "csv.field-delimiter", "json.timestamp-format.standard: SQL, ISO-8601", "raw.charset"]
    missing = [word for word in wanted if word not in connectors] + [word for word in ("collect", "rows\n      ") if word in connectors]
    yield "help connectors", f"{missing}" if missing else None
    keys = re.findall(r"(?m)^  (\S+)$", settings)
    unknown = [key for key in keys if "no option" in says(rowtide, lab, "run", "-c", f"SET '{key.replace('<', '').replace('>', '')}' = 'x'").lower()]
    yield "help settings names settings alone", f"{unknown}" if unknown or len(keys) < 20 else None


def check_agreement(rowtide, lab, verbs):
    man = says(rowtide, lab, "help", "man").replace("\\-", "-")
    zsh, fish = says(rowtide, lab, "completion", "zsh"), says(rowtide, lab, "completion", "fish")
    offered = bash_completions(rowtide, lab, ["rowtide", ""])
    for verb in verbs:
        first = verb.split()[0]
        options = options_of(says(rowtide, lab, "help", verb))
        in_man = man.split(f".SS rowtide {verb} ")[1].split("\n.S")[0]
        wanting = [f"{option} is not in the man page" for option in options if option not in in_man]
        in_zsh = zsh.split(f"    {first})\n")[1].split(";;")[0]
        wanting += [f"{option} is not in zsh's completion" for option in options if f"'{option}[" not in in_zsh]
        in_fish = "\n".join(line for line in fish.split("\n") if f"from {first}'" in line)
        for option in options:
            form = f"-l {option[2:]} " if option.startswith("--") else f"-s {option[1:]} "
            wanting += [] if form in in_fish else [f"{option} is not in fish's completion"]
        in_bash = bash_completions(rowtide, lab, ["rowtide", first, "-"])
        shared = {option for other in verbs if other.split()[0] == first for option in options_of(says(rowtide, lab, "help", other))}
        if in_bash != shared:
            wanting.append(f"bash completes {sorted(in_bash)}, --help has {sorted(shared)}")
        if first not in offered:
            wanting.append("bash does not complete it")
        yield f"the texts of {verb} agree on {len(options)} options", "; ".join(wanting) or None
    forms = bash_completions(rowtide, lab, ["rowtide", "run", "--output", ""])
    yield "bash completes the choices of an option", None if "tableau" in forms else str(forms)
    files = bash_completions(rowtide, lab, ["rowtide", "run", "keep_fi"])
    yield "bash completes files", None if "keep_first.sql" in files else str(files)


def check_codes(rowtide, lab):
    codes = re.findall(r"RT\d{4}", says(rowtide, lab, "help", "codes"))
    yield "help codes lists them", None if len(codes) >= 20 and len(set(codes)) == len(codes) else str(codes)
    for code in codes:
        text = says(rowtide, lab, "help", code.lower())
        fault = None if text.startswith(code) and "\nWhat to do\n" in text else text[:300]
        example = re.search(r"\nExample\n(.*?)\n\n?What to do", text, re.S)
        if example and not fault:
            done = subprocess.run([rowtide, "run", "--errors", "json", "-c", example.group(1)], cwd=lab, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
            last = done.stderr.strip().split("\n")[-1]
            if not last.startswith("{") or json.loads(last)["code"] != code:
                fault = f"its example gives {done.returncode}: {done.stderr or done.stdout[-300:]}"
            elif json.loads(last)["exit"] != done.returncode:
                fault = f"the exit code is {done.returncode}, the JSON says {last}"
        yield f"help {code}" + (", with its example" if example else ""), fault


def check_arguments(rowtide, lab):
    cases = [(["run", "--limit", "-1", "-c", "SELECT 1"], "-1 is below 0"), (["run", "--limit=x", "-c", "SELECT 1"], "'x' is no whole number"),
             (["run", "--limt", "3", "-c", "SELECT 1"], "did you mean --limit?"), (["explian", "x"], "did you mean 'explain'?"),
             (["keep_last.sql"], "rowtide run keep_last.sql"), (["help", "RT2099"], "rowtide help codes"),
             (["explain", "--limit", "3", "-c", "SELECT 1"], "rowtide explain has no option --limit"),
             (["run", "--output", "yaml", "-c", "SELECT 1"], "yaml"), (["bench", "generate", "-5"], "")]
    for arguments, wanted in cases:
        done = subprocess.run([rowtide, *arguments], cwd=lab, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=60, check=False)
        good = done.returncode == 2 and done.stderr.startswith("error[RT2800]") and wanted in done.stderr and not done.stdout
        yield f"rowtide {' '.join(arguments)}", None if good else f"exit {done.returncode}: {done.stderr}{done.stdout}"
    done = subprocess.run([rowtide, "run", "--errors", "json", "-c", "SELECT\n amout FROM (VALUES (1)) AS t(amount)"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    error = json.loads(done.stderr)
    good = error["code"] == "RT2002" and error["span"] == {"file": "-c", "line": 2, "column": 2, "end_line": 2, "end_column": 6} \
        and "amount" in error["hint"] and error["kind"] == "validate" and error["exit"] == 2
    wrong = subprocess.run([rowtide, "run", "--errors", "json", "--nothing"], text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    yield "a wrong option as JSON", None if json.loads(wrong.stderr)["code"] == "RT2800" else wrong.stderr
    noted = subprocess.run([rowtide, "run", "--errors", "json", "-c", "SET 'pipeline.max-parallelism' = '4'"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    yield "a note as JSON", None if "no effect" in json.loads(noted.stderr or "{}").get("note", "") else noted.stderr
    yield "an error as JSON", None if good else done.stderr


def checks(rowtide, lab):
    verbs = verbs_of(says(rowtide, lab, "--help"))
    yield "--help lists the verbs", None if {"run", "explain", "bench generate"} <= set(verbs) else str(verbs)
    yield from check_examples(rowtide, lab, verbs)
    yield from check_agreement(rowtide, lab, verbs)
    yield from check_topics(rowtide, lab)
    yield from check_codes(rowtide, lab)
    yield from check_arguments(rowtide, lab)
