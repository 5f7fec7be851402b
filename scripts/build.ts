import { rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import tokens from 'gpt-tokenizer/bpeRanks/cl100k_base'
import { documentsIn } from '../adapters/web/documents.ts'
import { buildCommand } from './build-command.ts'
import { buildConsole } from './build-console.ts'
import { packCode, packJson } from './pack-code.ts'
import { thirdPartyLicenses } from './third-party-licenses.ts'

/** Bundles the command into dist/, packed too, the documents and the operator console, and writes the licences of what is inside. */

rmSync('dist', { recursive: true, force: true })
const { outputs } = await buildCommand({ write: true })
writeFileSync('dist/code.json.br', packCode(outputs))
writeFileSync('dist/docs.json.br', packJson(Object.fromEntries(await documentsIn(pathToFileURL('docs/')))))
writeFileSync('dist/cl100k_base.json.br', packJson(tokens))
const inCommand = Object.values(outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
)
const inConsole = await buildConsole(resolve('dist/console'))
writeFileSync('THIRD-PARTY-LICENSES', thirdPartyLicenses([...inCommand, ...inConsole]))
