import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { it } from 'node:test'
import { servePage } from '../../adapters/review/serve-page.ts'
import { createLog } from '../../src/config/log.ts'

const log = createLog({ level: 'silent', secrets: () => [] })
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

it('leaves no address of localhost to another program, which would get the link', { skip: !hasIpv6 }, async () => {
  const page = await servePage({ files: new Map(), log, opened: {} }, () => {})
  const { port, hash } = new URL(page.url)
  const other = createServer().listen(Number(port), '::1')
  const [error] = (await once(other, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'EADDRINUSE')
  const reply = await fetch(`http://[::1]:${port}/api/open`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket: hash.slice(1) }),
  })
  assert.equal(reply.status, 200)
  await page.close()
})
