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
    'git --git-dir=.git push',
    "sh -c 'git push'",
    'bash -lc "cd x; /usr/bin/git push"',
    'echo $(git push 2>&1)',
    'true | \\\ngit push',
    'g"it" pu\'sh\'',
    'gh --repo acme/shop pr merge 4 --squash',
    'GIT_DIR=x git push',
    'git.exe push',
  ])
    it(`is found in ${line.replace('\n', ' ')}`, () => assert.ok(held(line)))

  for (const line of [
    'git status',
    'git commit -m "push it"',
    'git log --grep push',
    'echo push',
    'npm run push',
    'git stash; echo push',
    'gh pr view 4',
    'digit push',
    // What the docs list: a line that does not spell it.
    'git p',
    'g=git; $g push',
    'python3 push.py',
  ])
    it(`is not found in ${line}`, () => assert.equal(held(line), null))

  it('is named as the policy names it, and is looked for in a long line without delay', () => {
    assert.equal(heldCommand('npm  publish --tag next', ['git push', 'npm publish']), 'npm publish')
    const start = performance.now()
    assert.equal(held('git -a '.repeat(20_000)), null)
    assert.ok(performance.now() - start < 5000)
  })
})
