import { existsSync } from 'node:fs'
import { inHome, joined, type Machine } from '../assistants/assistant.ts'
import { geminiCli as assistant } from '../assistants/gemini-cli.ts'
import type { CodingAgent, Endpoint } from './coding-agent.ts'
import { setting } from './setting.ts'

/** The file of its variables. It reads one alone, so that a new one would hide that of the home folder. */
function variablesFile(machine: Machine): string {
  const [folder = ''] = assistant.traces(machine)
  const own = joined(machine, folder, '.env')
  const home = inHome(machine, '.env')
  return !existsSync(own) && existsSync(home) ? home : own
}

const variables = ({ url, key }: Endpoint) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key })

export const geminiCli: CodingAgent = {
  name: 'gemini-cli',
  label: 'Gemini CLI',
  ownModels: /^gemini-/,
  notInProject: 'Gemini CLI reads its key from a .env file, and that of a project is often committed',
  overridden: ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_API_KEY', 'GEMINI_MODEL'],
  files(endpoint, machine) {
    const { model } = endpoint
    const settings = [
      setting('security.auth.selectedType', 'gemini-api-key'),
      ...(model ? [setting('model.name', model.id)] : []),
    ]
    const env = Object.entries(variables(endpoint)).map(([name, value]) => setting(name, value))
    return [
      { path: assistant.userFiles(machine)[0], format: 'jsonc', settings },
      { path: variablesFile(machine), format: 'env', settings: env, holdsKey: true },
    ]
  },
  run: (endpoint, command) => ({
    command,
    env: { ...variables(endpoint), ...(endpoint.model && { GEMINI_MODEL: endpoint.model.id }) },
  }),
  source: 'https://geminicli.com/docs/reference/configuration/',
  tried: '0.61.0',
}
