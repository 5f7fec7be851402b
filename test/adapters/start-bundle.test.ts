import assert from 'node:assert/strict'
import { relative } from 'node:path'
import { before, describe, it } from 'node:test'
import type { Metafile } from 'esbuild'
import { buildCommand } from '../../scripts/build-command.ts'
import { CONFIG_KEYS, DEFAULTS } from '../../src/config/config-keys.ts'

/** Modules that load before a client gets the list of tools. */
const ON_START = ['adapters/command/cli.ts', 'adapters/command/program.ts', 'adapters/stdio/stdio.ts']

describe('what the tool server loads before it answers', () => {
  const bytes = new Map<string, number>()
  let files: Set<string>
  let code = ''

  before(async () => {
    const built = await buildCommand({ write: false })
    files = filesAtStart(built.outputs)
    code = built.files
      .filter(({ path }) => files.has(relative('', path)))
      .map(({ text }) => text)
      .join('\n')
    for (const path of files)
      for (const [input, { bytesInOutput }] of Object.entries(built.outputs[path]?.inputs ?? {}))
        bytes.set(input, bytesInOutput)
  })

  const bytesOf = (part: string) =>
    [...bytes].filter(([path]) => path.includes(part)).reduce((sum, [, size]) => sum + size, 0)

  it('takes few files', () => {
    assert.ok(files.size <= 7, [...files].join('\n'))
  })

  it('holds the parts of zod that are used, and not all of it', () => {
    assert.ok(bytesOf('node_modules/zod/') > 0, 'zod is looked for under another name')
    assert.equal(bytesOf('zod/v4/core/compile.js'), 0, 'import * as z from zod, not { z }')
  })

  it('holds the schemas of the protocol that are used, and not one of each type', () => {
    const size = bytesOf('node_modules/@modelcontextprotocol/core/')
    assert.ok(size > 0 && size < 5000, `${size} bytes of schemas`)
  })

  it('holds the keys and defaults of the configuration, which then build no schema', () => {
    const inserted = JSON.stringify({ keys: CONFIG_KEYS, defaults: DEFAULTS })
    assert.ok(code.includes(inserted.slice(0, 1000)))
  })

  it('holds no tool, no store, no console and no parser of the files of others', () => {
    const without = ['tools/', 'src/store/sqlite/', 'adapters/platform/', '@modelcontextprotocol/sdk/']
    for (const part of [...without, 'toml-eslint-parser/', 'jsonc-parser/'])
      assert.equal(
        [...bytes].filter(([path, size]) => path.replace('node_modules/', '').startsWith(part) && size > 0).length,
        0,
        part,
      )
  })
})

function filesAtStart(outputs: Metafile['outputs']): Set<string> {
  const found = new Set<string>()
  const add = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    for (const { path: imported, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && imported in outputs) add(imported)
  }
  for (const [path, { entryPoint }] of Object.entries(outputs))
    if (entryPoint !== undefined && ON_START.includes(entryPoint)) add(path)
  return found
}
