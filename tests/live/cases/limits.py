"""Full maps: every tick still counted, no wrong stack, and a warning that names the option."""
from failure import require


def check(run):
    target = run.start("constructs.py").ready()
    profile = run.pyperf.profile("-U", "-p", str(target.pid), "-F", "999", "--hash-storage-size", "1",
                                 "--stack-storage-size", "1", "2")
    classes = profile.summary["classes"]
    verdict = target.known.judge(profile.stacks())
    require(not verdict.strange, f"stacks that never existed: {verdict.strange.most_common(1)}")
    require(classes["complete"] >= 500, f"{classes}")
    require(len(verdict.burns) >= len(target.known.burns) // 2, f"{len(verdict.burns)} places seen")
    limits = profile.summary["limits"]
    require(limits["counts_full"] > 0 and limits["stacks_resent"] > 0, f"nothing was full: {limits}")
    text = " ".join(profile.stderr.split())
    for what, option in (("hash table full", "--hash-storage-size"), ("stack table full", "--stack-storage-size")):
        require(f"WARNING: {what}" in text and f"Consider increasing {option}" in text, f"no warning:\n{profile.stderr}")
