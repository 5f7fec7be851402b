import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { parseAllowedSigners, signerFault } from '../../src/signing/allowed-signers.ts'
import { gatewayKeys, gatewaySigner, observerLine, rotateGatewayKey } from '../../src/signing/gateway-keys.ts'
import { isSignedBy } from '../../src/signing/ssh-key.ts'

const NOW = new Date('2026-11-26T18:00:00.000Z')
const LATER = new Date('2026-12-01T00:00:00.000Z')

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-keys-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('the gateway’s signing key', () => {
  it('is created once, by the first that asks, and is readable by its user alone', async (t) => {
    const folder = createFolder(t)
    const lists = await Promise.all(Array.from({ length: 8 }, () => gatewayKeys(folder, NOW)))
    assert.equal(new Set(lists.map(([key]) => key?.keyid)).size, 1)
    assert.equal(statSync(join(folder, 'signing-key.json')).mode & 0o077, 0)
  })

  it('is rotated: the new one signs, and the old one stays listed with its end, without its private part', async (t) => {
    const folder = createFolder(t)
    const old = await gatewaySigner(folder, NOW)
    const signature = await old.sign(Buffer.from('message'))
    const secret = JSON.parse(readFileSync(join(folder, 'signing-key.json'), 'utf8')).private_key
    await rotateGatewayKey(folder, LATER)
    const keys = await gatewayKeys(folder, LATER)
    const current = await gatewaySigner(folder, LATER)
    assert.deepEqual(
      keys.map(({ keyid, valid_until }) => [keyid, valid_until]),
      [
        [current.key.fingerprint, null],
        [old.key.fingerprint, LATER.toISOString()],
      ],
    )
    assert.ok(!readFileSync(join(folder, 'signing-key.json'), 'utf8').includes(JSON.stringify(secret)))
    const [, line] = parseAllowedSigners(keys.map((key) => observerLine('gateway', key)).join('\n'))
    assert.ok(line && isSignedBy(line.key, Buffer.from('message'), signature))
    const faultAt = (time: Date) => signerFault(line, 'gazeway-observer', time)
    assert.deepEqual([faultAt(NOW), faultAt(LATER)], [null, 'the key expired at 2026-12-01T00:00:00.000Z'])
    assert.equal(signerFault(line, 'gazeway-review', NOW), 'the key is not for gazeway-review')
  })

  it('is not replaced when its file cannot be read', async (t) => {
    const folder = createFolder(t)
    mkdirSync(join(folder, 'signing-key.json'))
    await assert.rejects(gatewaySigner(folder, NOW), { code: 'EISDIR' })
  })

  it('is not replaced when its file is damaged', async (t) => {
    const folder = createFolder(t)
    const file = join(folder, 'signing-key.json')
    writeFileSync(file, '{"keys":')
    await assert.rejects(gatewaySigner(folder, NOW), { code: 'config_invalid' })
    assert.equal(readFileSync(file, 'utf8'), '{"keys":')
  })
})
