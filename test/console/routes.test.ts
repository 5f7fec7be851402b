import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ask, type RunningPlatform, startPlatform } from '../adapters/platform.ts'

const PAGE = `<!doctype html>${' '.repeat(1024)}`

describe('the console’s files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-console-'))
  let platform: RunningPlatform
  const get = (accepted: string) => ask(platform, 'GET', '/', { key: null, headers: { 'accept-encoding': accepted } })

  before(async () => {
    writeFileSync(join(folder, 'index.html'), PAGE)
    platform = await startPlatform('sandbox', { consoleFolder: folder, withHttp: false })
  })
  after(async () => {
    await platform.close()
    rmSync(folder, { recursive: true })
  })

  const encodings: Array<[string, string | null]> = [
    ['gzip, deflate, br, zstd', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['br, gzip ; q=0', null],
    ['br', null],
    ['identity', null],
  ]
  for (const [accepted, encoding] of encodings)
    it(`come as ${encoding ?? 'they are'} for “${accepted}”`, async () => {
      const reply = await get(accepted)
      assert.deepEqual([reply.headers.get('content-encoding'), await reply.text()], [encoding, PAGE])
    })

  // In time by the square of the header's length, this takes minutes.
  it('come at once whatever a client says that it accepts', { timeout: 30_000 }, async () => {
    for (const blank of [' ', '\t', ' ;', ','])
      for (let asked = 0; asked < 50; asked++) await get(`a${blank.repeat(15_000 / blank.length)}b`)
  })
})
