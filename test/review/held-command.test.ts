import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { heldCommand, USUALLY_HELD } from '../../src/review/held-command.ts'

const held = (line: string) => heldCommand(line, USUALLY_HELD)

describe('a held command', () => {
  for (const line of [
    'git push',
    'git push origin HEAD:main --force',
    'cd .. && git -C other push',
    'git -c push.default=current --no-pager push',
    'git -c "a.b=c d" push',
    'git --git-dir=.git push',
    'git 2>log push',
    "sh -c 'git push'",
    'bash -lc "cd x; /usr/bin/git push"',
    'eval "git push"',
    'bash <<EOF\ngit push\nEOF',
    'python3 -c "import os; os.system(\'git push\')"',
    'echo $(git push 2>&1)',
    'echo "`git push`"',
    'true | \\\ngit push',
    'git pu\\\nsh',
    'g"it" pu\'sh\'',
    "$'git' push",
    'gh --repo acme/shop pr merge 4 --squash',
    'GIT_DIR=x git push',
    'git.exe push',
    '"C:\\Program Files\\Git\\cmd\\git.exe" push',
    "'C:/Program Files/Git/cmd/git.exe' push",
    ...['C:/Git\\cmd\\git.exe', '..\\bin\\git.exe', '.\\git', '\\\\srv\\x\\git.exe', 'C:\\Git\\GIT.EXE', 'Git.exe'].map(
      (git) => `'${git}' push`,
    ),
    'xargs git push',
    // What the shell puts together from words of the line.
    'g=git; $g push',
    '{git,push}',
    'gi[t] push',
    'echo push | xargs git',
    "$'\\x67it' push",
    'X=$(printf "\\x67it"); $X push',
    // A program that is named, and a word after it that is not.
    'a=push; git $a origin main',
    'git $(echo push)',
    'git $"push"',
    'git -C x {push,origin}',
    "git pu$'\\x73'h",
    'git pus? origin',
    'set -- push; git "$@"',
    'g() { git "$@"; }; g push',
    'm=merge; gh --repo acme/shop pr $m 4',
    // Lines that git and the shell are set to run.
    "GIT_PAGER='git push' git -p log",
    "git -c core.pager='git push' -p log",
    "git -c core.editor='git push;' commit",
    "alias p='git push'\np",
    // Text that another part of the line makes for an interpreter.
    "printf 'git push\\n' | tee go.sh; sh go.sh",
    "printf 'git push\\n' | sh",
    "cat > /tmp/go.sh <<'EOF'\ngit push\nEOF\ncd /tmp && sh go.sh",
    "echo 'git push' | sh",
    'printf "git %s" push | bash -s',
    'bash <<< "git push"',
    "cat <<'EOF' | sh\ngit push\nEOF",
    "cat > go.sh <<'EOF'\ngit push\nEOF\nsh ./go.sh",
    "cat > go.sh <<'EOF'\ngit push\nEOF\nchmod +x go.sh && ./go.sh",
    "python3 - <<'EOF'\nimport subprocess\nsubprocess.run(['git', 'push'])\nEOF",
    "node -e \"require('child_process').execFileSync('git', ['push'])\"",
    '. <(echo git push)',
    '/usr/lib/git-core/git-push origin main',
    'env -C cat git push',
    // Programs of git that push by themselves, and one that runs what it makes of its text.
    'git subtree push --prefix=lib origin main',
    'git lfs push origin main',
    'git-lfs push --all origin',
    "echo x | sed 's/.*/git push/e'",
    "echo x | sed 's|x|git push|ge;p'",
    "sed -n '1e git push' README.md",
    "man -P 'git push' git",
    "man -aP 'git push' git",
    "MANPAGER='git push' man git",
    'psql -c "select \'git push\'"',
  ])
    it(`is found in ${line.replaceAll('\n', ' ')}`, () => assert.ok(held(line)))

  for (const line of [
    'git status',
    'git commit -m "push it"',
    'git commit -m "Say when git push is held"',
    'git commit -m "$(cat <<\'EOF\'\nSay when git push is held\nEOF\n)"',
    'git log --grep push',
    'echo push',
    'npm run push',
    'git stash; echo push',
    'gh pr view 4',
    'digit push',
    'man git push',
    'git subtree pull --prefix=lib origin push',
    '# git push',
    // What the docs list: a line that does not spell it.
    'python3 push.py',
    'make release',
  ])
    it(`is not found in ${line.replaceAll('\n', ' ')}`, () => assert.equal(held(line), null))

  it('is named as the policy names it, and is looked for in a long line without delay', () => {
    assert.equal(heldCommand('npm  publish --tag next', ['git push', 'npm publish'])?.name, 'npm publish')
    const start = performance.now()
    assert.equal(held('git -a '.repeat(20_000)), null)
    assert.ok(performance.now() - start < 5000)
  })
})

describe('a held command in a line', () => {
  for (const [line, besides] of [
    ['git add -A && git commit -qam Pay && git push', 'git commit -qam Pay'],
    ['git push; git merge other', 'git merge other'],
    ["sh -c 'git commit -am x; git push'", 'git commit -am x'],
    ['./release.sh && git push', './release.sh'],
    ['sh release.sh && git push', 'sh release.sh'],
    ['eval "$X" && git push', 'eval $X'],
    ['bash -c "$X"; git push', 'bash -c $X'],
    ['npm test && git push', 'npm test'],
    ['git fetch . other:main; git push', 'git fetch . other:main'],
    ['(git reset --hard other); git push', 'git reset --hard other'],
    ['if git switch other; then git push; fi', 'if git switch other'],
    ['f() { git revert HEAD; }; git push', 'f'],
    ['git push "$(git checkout -q other)"', 'git checkout -q other'],
    ['git commit -m "$(cat <<\'EOF\'\nPay\nEOF\n)" && git push', 'git commit -m $'],
    ['cd "$OTHER" && git push', 'cd $OTHER'],
    ['git --git-dir=other/.git push', 'git --git-dir=other/.git push'],
    ['git -c remote.origin.push=x:main push', 'git -c remote.origin.push=x:main push'],
    ['GIT_DIR=other/.git git push', 'GIT_DIR=other/.git git push'],
    // Settings that lead git elsewhere, and that nobody listed one by one.
    ['HOME=other git push', 'HOME=other git push'],
    ['export XDG_CONFIG_HOME=other; git push', 'export XDG_CONFIG_HOME=other'],
    ['HOME=other; git push', 'HOME=other'],
    ['CDPATH=..; cd other && git push', 'CDPATH=..'],
    ['cdpath=(..); cd other && git push', 'cdpath='],
    ['PATH=other:$PATH git push', 'PATH=other:$PATH git push'],
    ['GIT_SSH_COMMAND="sh -c ./x" git push', 'GIT_SSH_COMMAND=sh -c ./x git push'],
    ['git -c include.path=other push', 'git -c include.path=other push'],
    ['git -c alias.x=y push', 'git -c alias.x=y push'],
    ['git -c push.default=matching push', 'git -c push.default=matching push'],
    ['git -c core.hooksPath=other push', 'git -c core.hooksPath=other push'],
    ['git --config-env=remote.origin.push=R push', 'git --config-env=remote.origin.push=R push'],
    ['git --exec-path=other push', 'git --exec-path=other push'],
    ['env -C other git push', 'env -C other git push'],
    ['env --chdir=other git push', 'env --chdir=other git push'],
    ['env -u HOME git push', 'env -u HOME git push'],
    ['sudo -u other git push', 'sudo -u other git push'],
    ['ssh host git push', 'ssh host git push'],
    ['git lfs push origin main', 'git lfs push origin main'],
    ['git subtree push --prefix=lib origin HEAD', 'git subtree push --prefix=lib origin HEAD'],
    ['mkdir -m 700 x; git push', 'mkdir -m 700 x'],
    ['./git push', './git push'],
    ['git push $OPTIONS', 'git push $OPTIONS'],
    ['sh -c \'git push "$@"\' x origin other:main', 'sh -c git push "$@" x origin other:main'],
    ['cd nowhere || cd other && git push', 'cd other'],
    // Programs that run another one, and files of the repository that a command or a redirection writes.
    ["echo 'git push' | sh", 'sh'],
    ['sort --compress-program=./x big; git push', 'sort --compress-program=./x big'],
    ['rg --pre ./x y; git push', 'rg --pre ./x y'],
    ['git grep -O./x y; git push', 'git grep -O./x y'],
    ['git log --outp=.git/HEAD -1; git push', 'git log --outp=.git/HEAD -1'],
    ['git log $X; git push', 'git log $X'],
    ['git branch -f main other; git push', 'git branch -f main other'],
    ["test -v 'a[$(./x)]'; git push", 'test -v a[$(./x)]'],
    ['echo "ref: refs/heads/other" > .git/HEAD; git push', '> .git/HEAD'],
    ['git rev-parse other | tee ".git"/refs/heads/main && git push', '> .git/refs/heads/main'],
    ['cd .git; echo other>HEAD; git push', '> HEAD'],
    ['echo x > "$F"; git push', '> $F'],
    ["sh -c 'echo x > .git/HEAD; git push'", '> .git/HEAD'],
  ] as const)
    it(`has ${besides} besides it: ${line.replaceAll('\n', ' ')}`, () => assert.equal(held(line)?.besides, besides))

  for (const line of [
    'git push',
    'cd shop && git status --short && git push origin HEAD 2>&1 | tail -3',
    "sh -c 'git push'",
    'timeout 60 git push > log 2>&1; echo $?',
    'GIT_SSH_COMMAND="ssh -i key" git push && git log -1',
    'git push & wait',
    'mkdir -p x; git push',
  ])
    it(`stands alone where nothing changes what it lands: ${line}`, () => assert.equal(held(line)?.besides, null))
})
