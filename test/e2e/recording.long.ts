import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { type TreePlace, treePicture } from '../../scripts/pictures/context-tree.ts'
import { SCHEMES } from '../../scripts/pictures/scheme.ts'
import { linesOf, terminalPicture } from '../../scripts/pictures/terminal.ts'
import { recordTerminal } from './recording.ts'
import { connect, newPlace, writeProject } from './server.ts'

const COLUMNS = 100
/** `npm run pictures` writes what these runs show; without it they are compared with it. */
const { GAZEWAY_WRITE_PICTURES: WRITE } = process.env

/** Parts that differ from run to run: numbers, ids, and the spaces beside them. */
const lasting = (lines: readonly string[]) =>
  lines.map((line) =>
    line
      .replace(/\b[0-9a-f]{7,}\b/g, '…')
      .replace(/[\d.,:]+/g, '…')
      .replace(/\s+/g, ' ')
      .trim(),
  )

function assertDrawn(
  name: string,
  draw: (scheme: 'light' | 'dark') => string,
  shown: (picture: string) => string[],
): void {
  for (const scheme of SCHEMES) {
    const file = `docs/images/${name}-${scheme}.svg`
    const picture = draw(scheme)
    if (WRITE) writeFileSync(file, picture)
    assert.deepEqual(lasting(shown(readFileSync(file, 'utf8'))), lasting(shown(picture)), `npm run pictures: ${file}`)
  }
}

describe('the pictures of README.md', () => {
  it('show a terminal in which this happens', async () => {
    const lines = await recordTerminal()
    const said = lines.map(({ text }) => text).join('\n')
    assert.match(said, /^Stored as deploy\/staging\.$/m)
    assert.match(said, /^Staging is deployed on Thursdays, from the branch release\. \(memory deploy\/staging\)$/m)
    assert.match(said, /^feature\/pay cost \$0\.\d+ in \d sessions?\.$/m)
    assert.match(said, /^pay\.ts:1: in no receipt that counts$/m)
    assertDrawn('terminal', (scheme) => terminalPicture(lines, scheme, COLUMNS), linesOf)
  })

  it('show the tree of a work context', async () => {
    const place = newPlace()
    writeProject(place.project, {
      'README.md': '# Shop\n\nSells tea.\n',
      'src/pay/refund.ts': 'export function refund(order: string) {\n  return `refund of ${order}`\n}\n',
      'src/pay/card.ts': 'export const card = (number: string) => number.slice(-4)\n',
      'src/cart.ts': 'export const cart: string[] = []\n',
      'test/refund.test.ts': "import { refund } from '../src/pay/refund.ts'\nrefund('9')\n",
    })
    writeProject(place.project, { 'src/pay/card.ts': 'export const card = (n: string) => `…${n.slice(-4)}`\n' })
    const { client, call } = await connect(place)
    const at = new Date(Date.now() - 60_000).toISOString()
    const look = { at, dwell_ms: 12_000, source: 'ide', confidence: 0.9, cog: { focus: 0.8, load: 0.4 } }
    const records = [1, 2, 3].map(() => ({ ...look, env: { path: 'src/cart.ts', line_start: 1, line_end: 1 } }))
    await call('gateway_store_gaze_data', { session_id: 'tree', records })
    const { structuredContent } = await call('gateway_get_context', { query: 'refund of an order', max_tokens: 900 })
    await client.close()
    const places = structuredContent.places as TreePlace[]
    assertDrawn(
      'context',
      (scheme) => treePicture(places, scheme),
      (picture) => [...picture.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text),
    )
  })
})
