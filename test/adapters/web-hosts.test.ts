import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { checkHost, hostRules } from '../../adapters/web/hosts.ts'
import { listen } from '../../adapters/web/listen.ts'

describe('the hosts that requests may name', () => {
  const serves = (listening: string, host: string, allowed: string[] = []) => {
    try {
      checkHost({ host }, hostRules(listening, allowed, []))
      return true
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'forbidden_origin')
      return false
    }
  }

  for (const listening of ['localhost', 'LOCALHOST', '127.0.0.1', '127.0.0.2', '127.255.0.9', '::1', '0:0:0:0:0:0:0:1'])
    it(`are this machine's own where it listens on ${listening}`, () => {
      assert.ok(!serves(listening, 'evil.example:8811'))
      for (const own of ['localhost:8811', '127.0.0.1', '[::1]:8811']) assert.ok(serves(listening, own), own)
    })

  it('are those it listens on as browsers write them', () => {
    assert.ok(serves('127.0.0.2', '127.0.0.2:8811'))
    assert.ok(serves('2001:DB8:0::7', '[2001:db8::7]:8811', ['gate.example']))
    assert.ok(serves('fe80::7%eth0', '[fe80::7]', ['gate.example']))
    assert.ok(serves('0.0.0.0', 'gate.example:8811', ['Gate.Example']))
    assert.ok(!serves('2001:db8::7', '[2001:db8::8]', ['gate.example']))
  })

  it('are any beyond this machine, unless they are listed', () => {
    for (const listening of ['0.0.0.0', '::', '192.0.2.7', '2001:db8::7', 'gate.example'])
      assert.ok(serves(listening, 'anything.example'), listening)
  })
})

describe('an address that cannot be listened on', () => {
  const refused = (host: string, port: number) => listen(createServer(), { host, port, flag: '--platform-port' })

  for (const host of ['999.1.1.1', '192.0.2.7', 'nowhere.invalid'])
    it(`is named with --host where it is none of this machine's: ${host}`, async () => {
      const error = { code: 'config_invalid', param: '--host' }
      await assert.rejects(refused(host, 0), { ...error, message: /^--host: \S+ is not an address of this machine / })
    })

  const file = '/proc/sys/net/ipv4/ip_unprivileged_port_start'
  const privileged = existsSync(file) ? Number(readFileSync(file, 'utf8')) - 1 : 0
  it('is named with the flag of its port where that is privileged', { skip: privileged < 1 }, async () => {
    const isRoot = process.geteuid?.() === 0
    if (isRoot) process.seteuid?.(65534)
    try {
      const error = { code: 'config_invalid', param: '--platform-port' }
      await assert.rejects(refused('127.0.0.1', privileged), { ...error, message: /port 1023; must be .*1024/ })
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  })
})
