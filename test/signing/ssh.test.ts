import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { matchesPatterns, parseAllowedSigners, parseRevokedKeys } from '../../src/signing/allowed-signers.ts'
import { fileSigner } from '../../src/signing/signer.ts'
import { agentSigners } from '../../src/signing/ssh-agent.ts'
import { isSignedBy, sshKey, sshLine } from '../../src/signing/ssh-key.ts'
import { sshsigSigner } from '../../src/signing/sshsig.ts'
import { createKeyFolder, WITHOUT_OPENSSH } from './openssh.ts'

const MESSAGE = Buffer.from('the signed bytes of a receipt')
const TYPES: [type: string, bits: string[]][] = [
  ['ed25519', []],
  ['ecdsa', ['-b', '256']],
  ['ecdsa', ['-b', '384']],
  ['ecdsa', ['-b', '521']],
]

describe('keys and signatures of OpenSSH', { skip: WITHOUT_OPENSSH }, () => {
  for (const [type, bits] of TYPES)
    it(`signs plainly with a key file of ${[type, ...bits].join(' ')}`, async (t) => {
      const { createKey, publicKey, keygen } = createKeyFolder(t)
      const file = createKey(type, '', bits)
      const { key, sign } = fileSigner(readFileSync(file, 'utf8'))
      const signature = await sign(MESSAGE)
      assert.equal(sshLine(key), publicKey(file))
      assert.match(keygen('-l', '-f', file), new RegExp(key.fingerprint.replaceAll(/[+/]/g, '\\$&')))
      assert.equal(isSignedBy(key, MESSAGE, signature), true)
      assert.equal(isSignedBy(key, Buffer.from('another message'), signature), false)
    })

  it('signs plainly through ssh-agent, with every key that signs receipts', async (t) => {
    const { folder, createKey } = createKeyFolder(t)
    const socket = join(folder, 'agent')
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => agent.kill())
    await once(agent.stdout, 'data')
    const files = [...TYPES.map(([type, bits]) => createKey(type, '', bits)), createKey('rsa')]
    for (const file of files) {
      const add = spawn('ssh-add', ['-q', file], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' })
      assert.deepEqual(await once(add, 'exit'), [0, null])
    }
    const signers = await agentSigners(socket)
    assert.equal(signers.length, TYPES.length, 'without RSA')
    for (const { key, sign } of signers) assert.equal(isSignedBy(key, MESSAGE, await sign(MESSAGE)), true, key.type)
  })

  it('says why an agent did not sign', async (t) => {
    const { folder } = createKeyFolder(t)
    const socket = join(folder, 'agent')
    await assert.rejects(agentSigners(socket), { message: `The ssh-agent at ${socket} was not reached (ENOENT).` })
    const server = createServer((connection) =>
      connection.on('data', () => connection.write(Buffer.from([0, 0, 0, 1, 5]))),
    )
    await once(server.listen(socket), 'listening')
    t.after(() => server.close())
    await assert.rejects(agentSigners(socket), /refused: the key may be locked/)
  })

  for (const [type, bits] of [...TYPES, ['rsa', []] as (typeof TYPES)[number]])
    it(`verifies what ssh-keygen signed with ${[type, ...bits].join(' ')}`, (t) => {
      const { createKey, publicKey, sign } = createKeyFolder(t)
      const file = createKey(type, '', bits)
      const armoured = sign(file, 'gazeway-review', MESSAGE)
      const signer = sshsigSigner(armoured, MESSAGE, 'gazeway-review')
      assert.equal(signer && sshLine(signer), publicKey(file))
      assert.equal(sshsigSigner(armoured, Buffer.from('another'), 'gazeway-review'), null)
      assert.equal(sshsigSigner(sign(file, 'git', MESSAGE), MESSAGE, 'gazeway-review'), null)
      const lines = armoured.split('\n')
      for (let at = 1; at < lines.length - 2; at++) {
        const changed = lines.map((line, index) => (index === at ? [...line].reverse().join('') : line)).join('\n')
        assert.equal(sshsigSigner(changed, MESSAGE, 'gazeway-review'), null, `line ${at}`)
      }
    })

  it('refuses keys with a passphrase, of other types, damaged and cut off, saying what to do', (t) => {
    const { createKey, publicKey } = createKeyFolder(t)
    const locked = readFileSync(createKey('ed25519', 'secret'), 'utf8')
    const rsa = readFileSync(createKey('rsa'), 'utf8')
    assert.throws(() => fileSigner(locked), /has a passphrase\. Add it to ssh-agent/)
    assert.throws(() => fileSigner(rsa), /does not sign receipts/)
    assert.throws(() => fileSigner('nothing'), /is damaged/)
    const [, base64 = ''] = publicKey(createKey('ed25519')).split(' ')
    const blob = Buffer.from(base64, 'base64')
    for (let length = 0; length < blob.length; length++)
      assert.throws(() => sshKey(blob.subarray(0, length)), { code: 'validation_failed' })
  })

  it('reads the times of allowed signers as ssh-keygen does', (t) => {
    const { createKey, publicKey } = createKeyFolder(t)
    const key = publicKey(createKey('ed25519'))
    const [line] = parseAllowedSigners(
      `# people\n\n"ann@example.org,bob@example.org" namespaces="git,gazeway-*",valid-after="20260102",valid-before="20260304050607Z" ${key} Ann\n`,
    )
    assert.deepEqual(line?.principals, ['ann@example.org', 'bob@example.org'])
    assert.deepEqual(line?.namespaces, ['git', 'gazeway-*'])
    assert.equal(line?.validAfter?.getTime(), new Date(2026, 0, 2).getTime(), 'local time')
    assert.equal(line?.validBefore?.toISOString(), '2026-03-04T05:06:07.000Z')
    for (const fault of [`ann ${key.slice(0, 40)}`, `ann later="1" ${key}`, `ann valid-after="2026" ${key}`, 'ann'])
      assert.throws(() => parseAllowedSigners(`# one\n${fault}`), /^GazewayError: Allowed signers, line 2: /, fault)
  })
})

describe('patterns of names', () => {
  for (const [patterns, name, isMatch] of [
    ['ann@example.org', 'Ann@Example.org', true],
    ['ann@example.org', 'ann@example.org.evil', false],
    ['ann@example.org', 'xann@example.org', false],
    ['*@example.org', 'ann@example.org', true],
    ['*@example.org', 'ann@example.org\n', false],
    ['a*n@*.org', 'ann@example.org', true],
    ['a*n@*.org', 'ann@example.net', false],
    ['a??@example.org', 'ann@example.org', true],
    ['a?@example.org', 'ann@example.org', false],
    ['*a*ab', 'aaxab', true],
    ['*', '', true],
    ['**', 'ann', true],
    ['?*', '', false],
    ['a.n@example.org', 'ann@example.org', false],
    ['*,!eve@*', 'eve@example.org', false],
    ['*,!eve@*', 'ann@example.org', true],
    ['*', 'a'.repeat(321), false],
  ] as const)
    it(`${patterns} ${isMatch ? 'match' : 'do not match'} ${JSON.stringify(name.slice(0, 30))}`, () =>
      assert.equal(matchesPatterns(patterns.split(','), name), isMatch))

  it('are looked at in a time that does not grow with the number of stars', () => {
    // A regular expression takes more than a day.
    assert.equal(matchesPatterns([`${'*a'.repeat(12)}*b`], 'a'.repeat(300)), false)
  })
})

describe('a file of revoked keys', () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFp3nLQn0cXG5F7tZ3mJ8qk1m3Zt1bq0yq3dX1m2o8aB'

  it('has public keys, with comments and empty lines', () => {
    assert.deepEqual([...parseRevokedKeys(`# old\n\n  ${key} ann@laptop\r\n`)], [key.split(' ')[1]])
    assert.equal(parseRevokedKeys('\n'.repeat(2_000_000)).size, 0)
  })

  for (const line of [
    `ann@example.org namespaces="gazeway-review" ${key}`,
    `ann@example.org ${key}`,
    'SHA256:2W6GT1Ob7QXl0Tz7b6mVvZyUiNQmiyVUbnTzQm5Y0mA',
    'serial: 7',
    '../keys/revoked',
  ])
    it(`is refused, and not skipped, with a line such as ${line.slice(0, 40)}`, () =>
      assert.throws(() => parseRevokedKeys(`${key}\n${line}\n`), /Revoked keys, line 2: it is no public key/))
})
