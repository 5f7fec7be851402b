import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openCheckout } from '../../src/review/checkout.ts'
import { writtenOut } from '../../src/review/git-aliases.ts'
import { createRepository } from './repository.ts'

it('writes out aliases that the repository has, and those that a line sets and uses', async (t) => {
  const { root, git, commitFiles } = createRepository(t)
  commitFiles({ 'pay.ts': 'send(1)\n' })
  git('config', 'alias.p', 'push')
  const checkout = await openCheckout(root)
  for (const [line, ...more] of [
    ['git p', 'git push'],
    ['git -c alias.q=push q', 'git push'],
    ["git config alias.r 'push origin main' && git R", 'git push origin main'],
    ["git config --global alias.r '!cd x && git push'; git r", 'cd x && git push'],
    ['git config alias.r push'],
    ['GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.s GIT_CONFIG_VALUE_0=push git s', 'git push'],
    ['export GIT_CONFIG_VALUE_0=push GIT_CONFIG_KEY_0=alias.s GIT_CONFIG_COUNT=1; git s', 'git push'],
    ["GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.s GIT_CONFIG_VALUE_0='!git push' git s", 'git push'],
    ['GIT_CONFIG_VALUE_0=push git s', 'git push'],
    ['GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=$K GIT_CONFIG_VALUE_0=push git s', 'git push'],
    ['GIT_CONFIG_KEY_0=a.b; GIT_CONFIG_KEY_0=Alias.s GIT_CONFIG_VALUE_0=push git s', 'git push'],
    ['GIT_CONFIG_KEY_0=ali; GIT_CONFIG_KEY_0+=as.s GIT_CONFIG_VALUE_0=push git s', 'git push'],
    ["GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' git status"],
    ['GIT_CONFIG_KEY_0=a.b GIT_CONFIG_VALUE_0=c GIT_CONFIG_KEY_1=alias.s GIT_CONFIG_VALUE_1=push git s', 'git push'],
    ['GIT_CONFIG_PARAMETERS="\'alias.s=push\'" git s', 'git push'],
    ["GIT_CONFIG_PARAMETERS=\"'alias.s'='push'\" git s", 'git push'],
    ['V=push git --config-env=alias.s=V s', 'git push'],
    ['V=push git --config-env alias.s=V s', 'git push'],
    ['git config --get alias.r; git r'],
    ['git status'],
  ] as const)
    assert.equal(await writtenOut(checkout, line), [line, ...more].join('\n'))
})
