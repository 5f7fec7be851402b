import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { openStore } from '../../src/store/open-store.ts'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { makeCertificate, noCertificates } from '../doubles/certificate.ts'

describe('a store URL with TLS', { skip: noCertificates() ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-tls-'))
  const [key, certificate, other] = ['key.pem', 'own.pem', 'other.pem'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  let server: PostgresServer
  let url: string
  before(async () => {
    server = await startPostgres()
    url = await server.database()
    makeCertificate(join(folder, 'other.key'), other)
    makeCertificate(key, certificate)
    await turnOn(url, key, certificate)
  })
  after(async () => {
    await server.remove()
    rmSync(folder, { recursive: true })
  })

  it('is encrypted, and the certificate checked', async () => {
    for (const mode of ['verify-full', 'require']) assert.equal(await isEncrypted(tls(mode, certificate)), true)
  })

  it('is encrypted without a check where that is asked for', async () =>
    assert.equal(await isEncrypted(`${url}?sslmode=no-verify`), true))

  it('is refused for an untrusted certificate, with a message without the password', async () => {
    for (const refused of [tls('verify-full', other), `${url}?sslmode=verify-full`])
      await assert.rejects(openStore(refused), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'store_unavailable')
        assert.match(error.message, /certificate/)
        assert.ok(!error.message.includes(new URL(url).password), 'it holds the password')
        return true
      })
  })

  const tls = (mode: string, root: string) => `${url}?sslmode=${mode}&sslrootcert=${root}`
})

async function isEncrypted(url: string): Promise<boolean> {
  const store = await openStore(url)
  try {
    const { rows } = await sql<{ ssl: boolean }>`
      select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(store.db)
    return rows[0]?.ssl ?? false
  } finally {
    await store.close()
  }
}

/** Has the server behind `url` take TLS from now on, with a key that its own user can read. */
async function turnOn(url: string, key: string, certificate: string): Promise<void> {
  const store = await openStore(url)
  const { rows } = await sql<{ data: string }>`select current_setting('data_directory') as data`.execute(store.db)
  const data = rows[0]?.data ?? ''
  const owner = execFileSync('stat', ['-c', '%u:%g', data], { encoding: 'utf8' }).trim()
  for (const [from, to] of [
    [key, join(data, 'server.key')],
    [certificate, join(data, 'server.crt')],
  ] as const) {
    copyFileSync(from, to)
    chmodSync(to, 0o600)
    execFileSync('chown', [owner, to])
  }
  await sql`alter system set ssl = on`.execute(store.db)
  await sql`select pg_reload_conf()`.execute(store.db)
  await store.close()
}
