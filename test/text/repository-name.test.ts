import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addressOf, repositoryName } from '../../src/text/repository-name.ts'

const NAME = 'github.com/ann/shop'
const SHA = 'a'.repeat(40)
const TOKEN = `ghp_${'A1b2'.repeat(9)}`

/** Remotes and their names. */
const REMOTES: ReadonlyArray<readonly [string, string | null]> = [
  ['https://github.com/ann/shop.git', NAME],
  ['https://GitHub.com/ann/shop/', NAME],
  ['git@github.com:ann/shop.git', NAME],
  ['github.com:/ann/shop', NAME],
  ['ssh://git@github.com:22/ann/shop.git', NAME],
  ['git+ssh://git@github.com/ann//shop.git/', NAME],
  ['github.com/ann/shop', NAME],
  [`https://${TOKEN}@github.com/ann/shop.git`, NAME],
  [`https://x-access-token:${TOKEN}@github.com/ann/shop?token=${TOKEN}#${TOKEN}`, NAME],
  [`https://ann:p%40ss@w@github.com/ann/shop`, NAME],
  ['https://git.example.com:8443/a/b/c.git', 'git.example.com:8443/a/b/c'],
  ['git.example.com:8443/a/b/c', 'git.example.com:8443/a/b/c'],
  ['http://localhost:3000/ann/shop.git', 'localhost:3000/ann/shop'],
  ['git@gitea:ann/shop.git', 'gitea/ann/shop'],
  ['http://[::1]:3000/ann/shop', '[::1]:3000/ann/shop'],
  ['ssh://git@[2001:db8::1]:22/a/b', '[2001:db8::1]/a/b'],
  [`root:${SHA}`, `root:${SHA}`],
  // Folders stay on their machine.
  ['/home/ann/shop.git', null],
  ['file:///home/ann/shop', null],
  ['C:\\Users\\ann\\shop', null],
  ['C:/Users/ann/shop', null],
  ['../shop', null],
  ['shop', null],
  // Secrets where a path should be.
  [`https://github.com/${TOKEN}/shop`, null],
  [`ann:${TOKEN}/x@github.com/ann/shop`, null],
  ['https://ann:pass/word@github.com/ann/shop', null],
  ['https://github.com/', null],
  [`https://github.com/${'a'.repeat(300)}`, null],
  ['root:main', null],
  ['', null],
]

describe('the name of a repository', () => {
  for (const [remote, name] of REMOTES)
    it(`is ${name} for ${remote.slice(0, 70)}`, () => assert.equal(repositoryName(remote), name))

  it('is the same of its own address', () => {
    for (const [, name] of REMOTES) if (name !== null) assert.equal(repositoryName(addressOf(name)), name)
  })
})
