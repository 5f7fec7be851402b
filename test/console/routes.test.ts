import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Hono } from 'hono'
import { fileOnDisk } from '../../adapters/console/files.ts'
import { consoleRoutes } from '../../adapters/console/routes.ts'
import type { Frame } from '../../adapters/web/frame-context.ts'
import { GazewayError } from '../../src/errors.ts'
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

  it('are there until a restart when another version replaces them, and 404 for a name of that version', async () => {
    const before = await get('identity')
    rmSync(join(folder, 'index.html'))
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'assets/main-abcdefgh.js'), 'export {}')
    for (const accepted of ['identity', 'gzip']) assert.equal(await (await get(accepted)).text(), PAGE)
    assert.equal((await get('identity')).headers.get('etag'), before.headers.get('etag'))
    const unknown = await ask(platform, 'GET', '/assets/main-abcdefgh.js', { key: null })
    assert.deepEqual([unknown.status, unknown.headers.get('cache-control')], [404, null])
  })

  it('are 404, too, where those of the webcam’s library were removed', async () => {
    const gone = join(folder, 'human.esm.js')
    writeFileSync(gone, 'export {}')
    const app = new Hono<Frame>()
    app.onError((error, c) => c.text(error.message, error instanceof GazewayError ? 404 : 500))
    consoleRoutes(app, folder, new Map([['/assets/human/dist/human.esm.js', fileOnDisk(gone)]]))
    rmSync(gone)
    assert.equal((await app.request('/assets/human/dist/human.esm.js')).status, 404)
  })

  it('of the webcam’s library are read when they are asked for, and named by what they hold then', async () => {
    const library = join(folder, 'later.esm.js')
    const app = new Hono<Frame>()
    consoleRoutes(app, folder, new Map([['/assets/human/dist/human.esm.js', fileOnDisk(library)]]))
    const tags: Array<string | null> = []
    for (const text of ['export {}', 'export default 1']) {
      writeFileSync(library, text)
      const reply = await app.request('/assets/human/dist/human.esm.js')
      assert.deepEqual(
        [reply.headers.get('content-type'), await reply.text()],
        ['text/javascript; charset=utf-8', text],
      )
      tags.push(reply.headers.get('etag'))
    }
    const again = (tag: string | null | undefined) =>
      app.request('/assets/human/dist/human.esm.js', { headers: { 'if-none-match': `${tag}` } })
    assert.deepEqual([(await again(tags[1])).status, (await again(tags[0])).status], [304, 200])
  })

  it('of the webcam’s library are not read for a client that has them', {
    skip: !existsSync('/proc/self/io'),
  }, async () => {
    const library = join(folder, 'large.esm.js')
    const content = ' '.repeat(4_000_000)
    writeFileSync(library, content)
    const app = new Hono<Frame>()
    const path = '/assets/human/dist/human.esm.js'
    consoleRoutes(app, folder, new Map([[path, fileOnDisk(library)]]))
    const tag = `${(await app.request(path)).headers.get('etag')}`
    const again = async () => (await app.request(path, { headers: { 'if-none-match': tag } })).status
    const bytesRead = () => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
    const before = bytesRead()
    assert.deepEqual([await again(), await again()], [304, 304])
    assert.ok(bytesRead() - before < content.length, `${bytesRead() - before}`)
    // With the size and the time of modification that it had.
    const { atime, mtime } = statSync(library)
    writeFileSync(library, 'x'.repeat(content.length))
    utimesSync(library, atime, mtime)
    assert.equal(await again(), 200)
  })

  // In time by the square of the header's length, this takes minutes.
  it('come at once whatever a client says that it accepts', { timeout: 30_000 }, async () => {
    for (const blank of [' ', '\t', ' ;', ','])
      for (let asked = 0; asked < 50; asked++) await get(`a${blank.repeat(15_000 / blank.length)}b`)
  })
})
