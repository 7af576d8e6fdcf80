# SPDX-License-Identifier: MIT
#
# What the scripts about experiments share; source it before lib.bash, which changes the folder.

# forty [EPOCHS]: an experiment of 40 jobs, into 40.yaml; 400 epochs are a fraction of a second
forty() {
    cat >40.yaml <<YAML
name: forty
data: {name: crescents, rows: 300, noise: 0.3}
net: {hidden: [20]}
train: {epochs: ${1:-400}, batch: 16, patience: 0, checkpoint_seconds: 0.05}
methods:
  - {name: SP, param: sp, lr: 0.01}
  - {name: WN, param: wn, lr: 0.01}
  - {name: BN, param: sp, norm: bn, lr: 0.01}
  - {name: GmP, param: gmp, lr: 0.1}
seeds: 10
YAML
}

# same_experiment A B: the same tables and the same jobs, bit for bit but for seconds and for the path from A and B to their data
same_experiment() {
    local file job
    checks=$((checks + 1))
    for file in experiment.yaml table.txt table.md table.tex table.csv table.json report.html; do
        cmp -s <(grep -v '^directory: ' "$1/$file") <(grep -v '^directory: ' "$2/$file") || wrong "$1 and $2: another $file"
    done
    cmp -s <(grep -v '"seconds"' "$1/results.json") <(grep -v '"seconds"' "$2/results.json") ||
        wrong "$1 and $2: another results.json"
    [ "$(cd "$1" && find . | sort)" = "$(cd "$2" && find . | sort)" ] || wrong "$1 and $2: other files: $(diff <(cd "$1" && find . | sort) <(cd "$2" && find . | sort))"
    while read -r job; do
        same_run "$1/$job" "$2/$job"
    done < <(cd "$1" && find jobs -name config.yaml -printf '%h\n')
}
