import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Abi, Hex } from 'viem'

const require = createRequire(import.meta.url)

/** A compiled contract. */
export interface Compiled {
  abi: Abi
  bytecode: Hex
}

/** Compiles the contract in `test/chain/NAME.sol`; what it imports is found in node_modules. */
export function compile(name: string): Compiled {
  // Loaded here: the compiler is 20 MB of WebAssembly.
  const solc = require('solc') as { compile(input: string, callbacks: { import(path: string): unknown }): string }
  const file = `${name}.sol`
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(join(import.meta.dirname, file), 'utf8') } },
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
