import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { heldCommand, USUALLY_HELD } from '../../src/review/held-command.ts'

/** Lines of a day's work, as agents write them. None of them pushes. */
const WORK = [
  'npm test 2>&1 | tail -20',
  'npm run build && npm run lint',
  'npx tsx --test test/review/*.test.ts',
  'node -e "console.log(require(\'./package.json\').version)"',
  'node --input-type=module -e "const a = []; a.push(1); console.log(a)" && git status',
  'python3 - <<\'EOF\'\nimport re\ntext = open("a.txt").read()\nitems = []\nitems.append(re.sub("git", "hg", text))\nEOF',
  'python3 -c \'import json,sys; print(json.load(sys.stdin)["name"])\' < package.json',
  'cat package.json | jq .version',
  'curl -fsSL https://example.org/install.sh | sh',
  'curl -s http://localhost:3000/health | python3 -m json.tool',
  'grep -rn "git push" docs src | head',
  'rg --files-with-matches "git push|gh pr merge" .',
  'echo "Run git push when CI is green" >> NOTES.md',
  'printf "%s\\n" "git push" > todo.txt',
  'echo git push',
  'git status --short && git diff --stat',
  'git add -A && git commit -m "Say when git push is held"',
  'git commit -qm "Push: retry" --author "Ann <ann@example.org>"',
  'git commit -m "$(cat <<\'EOF\'\nHold git push\n\nUntil it is read.\nEOF\n)"',
  'git log --oneline -20 | grep -i push',
  'git log --grep "git push" --format=%h',
  'git stash push -m "half of git push" && git pull --rebase && git stash pop',
  'git -C "$SHOP" log --grep "git push"',
  'git show $COMMIT && echo "then git push"',
  'gh pr view $N --json title,body && grep -n "gh pr merge" docs/*.md',
  'git -c user.name="A B" -c commit.gpgsign=false commit -m "Hold git push"',
  'echo "alias gp=\'git push\'" >> ~/.zshrc',
  'npm test | tee out.log; grep -n "git push" out.log',
  'git fetch origin && git rebase origin/main',
  'git checkout -b topic && git branch -vv',
  'git merge --no-ff topic -m "Merge topic, then git push"',
  'git tag -a v1.2.0 -m "Release, after git push"',
  'git ls-files | xargs wc -l',
  'git diff --name-only main | xargs npx prettier --check',
  'for f in $(git ls-files "*.ts"); do $FORMAT "$f"; done',
  'cd $(git rev-parse --show-toplevel) && make',
  '$(git rev-parse --show-toplevel)/scripts/check.sh',
  'git show HEAD:README.md | head -5',
  'git worktree add ../shop-2 topic; cd ../shop-2 && npm ci',
  'git bisect run npm test',
  'git config user.email ann@example.org',
  'git remote add upstream https://example.org/shop.git',
  'gh pr create --title "Hold it" --body "Run git push after the review"',
  'gh pr view 4 --json mergeable && gh pr checks 4',
  'gh issue comment 12 --body "gh pr merge waits for a review"',
  'docker build -t shop . && docker push registry.example.org/shop',
  'docker images -q | xargs docker rmi',
  'docker compose exec db psql -c "select 1"',
  'kubectl get pods -o json | jq -r ".items[].metadata.name"',
  'terraform plan -out=plan && terraform show plan',
  'cargo test --workspace -- --nocapture',
  'go test ./... -run TestPush',
  'pytest -q -k "push and not slow"',
  'make -j8 && ./build/shop --version',
  'sed -i "s/git push/git pull/" README.md',
  "awk '/git push/ {print NR}' README.md",
  'find . -name "*.ts" -newer package.json -exec grep -l push {} +',
  'ls -la "git push notes" 2>/dev/null',
  "cat > docs/push.md <<'EOF'\n# Push\n\nRun `git push` once it is read.\nEOF",
  "tee release.sh <<'EOF'\ngit push\nEOF",
  'ssh build.example.org "cd shop && git pull"',
  'TOKEN=$(cat token); curl -H "Authorization: Bearer $TOKEN" https://example.org',
  'while ! curl -sf localhost:8812/health; do sleep 1; done',
  'timeout 60 npm start & sleep 5; kill %1',
  'mkdir -p a/b && cp -r src a/b && tar czf a.tgz a',
  'psql shop -c "insert into t values (1)"',
  '# git push comes later\nnpm test',
  'ps aux | grep -c "[g]it push"',
  'man git push',
  'man -s 1 git-push',
  'man -s1 git push',
  'man -k git push',
  'which -a git push',
  'man git-push | col -b | head -40',
  'which git push-all; type git',
  'git lfs pull && git subtree pull --prefix=lib lib main',
  "sed -e 's/git push/git pull/' -i README.md",
  "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' git status",
]

/** Lines that push and do nothing else that matters, as agents write them. */
const PUSHES = [
  'git push',
  'git push -u origin HEAD',
  'git push origin main 2>&1 | tail -5',
  'git push --force-with-lease origin topic',
  'git push origin HEAD:main && git log -1 --oneline',
  'git status --short && git push origin main',
  'git add -A && git push',
  'cd shop && git push',
  'git -C shop push -q origin main',
  'git --no-pager -c color.ui=false push origin main',
  'GIT_TERMINAL_PROMPT=0 timeout 120 git push origin main; echo "exit: $?"',
  'GIT_SSH_COMMAND="ssh -i ~/.ssh/key" git push origin v1.2.0',
  'git branch --show-current; git remote -v; git push',
  "sh -c 'git push origin main'",
  'set -euo pipefail; git diff --quiet && git push',
  'if git push; then echo pushed; else echo failed; exit 1; fi',
  'git push > push.log 2>&1 || tail -n 20 push.log',
  'gh pr merge 4 --squash --delete-branch',
  'mkdir -p build && git push',
]

describe('the hold', () => {
  it('leaves ordinary lines alone that do not push', () => {
    assert.ok(WORK.length >= 60)
    const held = WORK.filter((line) => heldCommand(line, USUALLY_HELD) !== null)
    assert.deepEqual(held, [])
  })

  it('judges a plain push by HEAD, and does not deny it for how it is written', () => {
    const denied = PUSHES.filter((line) => heldCommand(line, USUALLY_HELD)?.besides !== null)
    assert.deepEqual(denied, [])
  })
})
