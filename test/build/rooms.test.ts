import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { roomFaults } from '../../scripts/room-faults.ts'

/** A room of which only its door may be imported. */
const LARGE = '\n'.repeat(2001)
const FINE = {
  'src/text/text.ts': 'export interface Text {}',
  'src/wallet/wallet.ts': `import type { Entry } from './entry.ts'${LARGE}`,
  'src/wallet/entry.ts': "import type { Text } from '../text/text.ts'",
  'src/wallet/open.ts': 'export interface Open {}',
  'src/wallet/tables/row.ts': 'export interface Row {}',
  'adapters/http.ts':
    "import '../src/wallet/wallet.ts'\nimport type { Open } from '../src/wallet/open.ts'\nimport type { Row } from '../src/wallet/tables/row.ts'",
}

describe('the check of the rooms', () => {
  const folders: string[] = []
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  /** Faults of a tree with some files changed. */
  function faultsOf(changed: Record<string, string>): string[] {
    const root = mkdtempSync(join(tmpdir(), 'gazeway-rooms-'))
    folders.push(root)
    for (const [name, text] of Object.entries({ ...FINE, 'tools/tool.ts': '', ...changed })) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), text)
    }
    return roomFaults(root, { rooms: ['text', 'wallet'], open: { wallet: ['open.ts', 'tables/'] } })
  }

  it('finds nothing in a tree that keeps them', () => assert.deepEqual(faultsOf({}), []))

  for (const [what, file, text, fault] of [
    [
      'a circle of types',
      'src/wallet/entry.ts',
      "import type { Wallet } from './wallet.ts'",
      /^These files import each other: src\/wallet\/\w+\.ts, src\/wallet\/\w+\.ts\./,
    ],
    [
      'an upward import of a type',
      'src/text/text.ts',
      "import type { Wallet } from '../wallet/wallet.ts'",
      /^src\/text\/text\.ts imports src\/wallet\/wallet\.ts: text is below wallet\.$/,
    ],
    [
      'an upward import() at run time',
      'src/text/text.ts',
      "const load = () => import('../wallet/wallet.ts')",
      /: text is below wallet\.$/,
    ],
    [
      'an import past a door',
      'tools/tool.ts',
      "import type { Entry } from '../src/wallet/entry.ts'",
      /^tools\/tool\.ts imports src\/wallet\/entry\.ts, past the doors of wallet\./,
    ],
    [
      'an import from outside of src',
      'src/text/text.ts',
      "import '../../tools/tool.ts'",
      /: src imports nothing outside/,
    ],
    ['a folder without a place in the order', 'src/odd/odd.ts', '', /^src\/odd\/odd\.ts: odd is no room;/],
    [
      'a file that is open to nobody',
      'adapters/http.ts',
      "import type { Row } from '../src/wallet/tables/row.ts'",
      /opens src\/wallet\/open\.ts, which nobody outside wallet/,
    ],
    [
      'a folder that is open to nobody',
      'adapters/http.ts',
      "import type { Open } from '../src/wallet/open.ts'",
      /opens src\/wallet\/tables\/, which nobody outside wallet/,
    ],
  ] as const)
    it(`refuses ${what}`, () => {
      const [first, ...others] = faultsOf({ [file]: text })
      assert.match(String(first), fault)
      // A type that comes from above makes a circle, too.
      for (const other of others) assert.match(other, /^These files import each other/)
    })
})
