import { basename } from 'node:path'
import { inHome, joined, type Machine, named, type Scope } from '../assistants/assistant.ts'
import type { CodingAgent, Endpoint } from './coding-agent.ts'
import { keyLine } from './key-command.ts'
import { setting } from './setting.ts'

/** Variable of the key in a run that writes nothing. */
const VARIABLE = 'GAZEWAY_CONNECT_KEY'

/** Settings of a project that only the person has: those that a project shares would give others a path of this machine. */
const fileOf = (machine: Machine, scope: Scope): string =>
  scope === 'project'
    ? joined(machine, machine.project, '.claude', 'settings.local.json')
    : joined(machine, named(machine, 'CLAUDE_CONFIG_DIR') ?? inHome(machine, '.claude'), 'settings.json')

/** Models for the names that it and its subagents have for them. */
function modelVariables({ model, smallModel }: Endpoint): Record<string, string> {
  const main = model?.id
  const small = smallModel?.id
  return {
    ...(main && { ANTHROPIC_MODEL: main, ANTHROPIC_DEFAULT_OPUS_MODEL: main, ANTHROPIC_DEFAULT_SONNET_MODEL: main }),
    ...(small && { ANTHROPIC_DEFAULT_HAIKU_MODEL: small }),
    ...(model?.context && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(model.context) }),
  }
}

export const claudeCode: CodingAgent = {
  name: 'claude-code',
  label: 'Claude Code',
  ownModels: /^claude-/,
  notInProject: null,
  overridden: ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'],
  files(endpoint, machine, scope) {
    // Its settings take precedence over the shell, whose own keys must not go to the gateway.
    const env = {
      ANTHROPIC_BASE_URL: endpoint.url,
      ANTHROPIC_API_KEY: '',
      ANTHROPIC_AUTH_TOKEN: '',
      ...modelVariables(endpoint),
    }
    const settings = [
      setting('apiKeyHelper', keyLine(endpoint.keyFile, machine.platform)),
      ...Object.entries(env).map(([name, value]) => setting(`env.${name}`, value)),
    ]
    return [{ path: fileOf(machine, scope), format: 'json', settings }]
  },
  run(endpoint, [program = '', ...words]) {
    const { url, key } = endpoint
    const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: '', ...modelVariables(endpoint) }
    // Its files take precedence over the environment, and its command line over both. Windows has no printenv.
    const isClaude = /^claude(\.\w+)?$/.test(basename(program)) && process.platform !== 'win32'
    const settings = { env: { ...env, ANTHROPIC_AUTH_TOKEN: '' }, apiKeyHelper: `printenv ${VARIABLE}` }
    return {
      command: [program, ...(isClaude ? ['--settings', JSON.stringify(settings)] : []), ...words],
      env: { ...env, ANTHROPIC_AUTH_TOKEN: key, [VARIABLE]: key },
    }
  },
  source: 'https://code.claude.com/docs/en/llm-gateway',
  tried: '2.1.332',
}
