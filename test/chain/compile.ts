import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Abi, Hex } from 'viem'

const require = createRequire(import.meta.url)

/** A compiled contract. */
export interface Compiled {
  abi: Abi
  bytecode: Hex
}

/** Compiles the contract in `test/chain/NAME.sol`; what it imports is found in node_modules. Kept for other test files. */
export function compile(name: string): Compiled {
  const source = readFileSync(join(import.meta.dirname, `${name}.sol`), 'utf8')
  const versions = ['solc', '@openzeppelin/contracts'].map((library) => require(`${library}/package.json`).version)
  const key = createHash('sha256')
    .update([source, ...versions].join(' '))
    .digest('hex')
  const kept = join(tmpdir(), `gazeway-contract-${key}.json`)
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'))
  const compiled = compileSource(name, source)
  // Whole at once: other test files may read it meanwhile.
  const draft = `${kept}-${process.pid}`
  writeFileSync(draft, JSON.stringify(compiled))
  renameSync(draft, kept)
  return compiled
}

function compileSource(name: string, content: string): Compiled {
  // Loaded here: the compiler is 20 MB of WebAssembly.
  const solc = require('solc') as { compile(input: string, callbacks: { import(path: string): unknown }): string }
  const file = `${name}.sol`
  const input = {
    language: 'Solidity',
    sources: { [file]: { content } },
    settings: { outputSelection: { [file]: { [name]: ['abi', 'evm.bytecode.object'] } } },
  }
  const found = (path: string) => ({ contents: readFileSync(require.resolve(path), 'utf8') })
  const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input), { import: found }))
  const faults = errors.filter(({ severity }: { severity: string }) => severity === 'error')
  if (faults.length > 0)
    throw new Error(faults.map((fault: { formattedMessage: string }) => fault.formattedMessage).join('\n'))
  const { abi, evm } = contracts[file][name]
  return { abi, bytecode: `0x${evm.bytecode.object}` }
}
