import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GatewayProcess } from '../../e2e/gateway-process.ts'
import type { Place } from '../../e2e/server.ts'
import type { Deed } from './script.ts'
import { FULL } from './steered.ts'

/** Command of an agent with its words and variables. */
interface Command {
  words: string[]
  env: Record<string, string>
}

/** A real agent, run without a person. */
export interface Agent {
  /** Its file in `node_modules/.bin`. */
  command: string
  /** API by which it asks. */
  asks: 'Messages' | 'Responses' | 'chat completions' | 'Google’s Gemini API'
  /** Writes its settings. */
  prepare(gateway: GatewayProcess, place: Place, model: string): void
  /** @param isFirst false to go on with the session before */
  prompt(gateway: GatewayProcess, text: string, options: { isFirst: boolean; model: string }): Command
  /** Prompt that makes it compact its conversation; null where it does so by itself when its window is full. */
  compact: string | null
  /** Name and input of the call for a deed. */
  callFor(deed: Deed, folder: string): { name: string; input: object }
}

const claude: Agent = {
  command: 'claude',
  asks: 'Messages',
  prepare() {},
  prompt: ({ url, key }, text, { isFirst, model }) => ({
    words: [...(isFirst ? [] : ['--continue']), '-p', text, '--dangerously-skip-permissions'],
    env: {
      ...{
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_SMALL_FAST_MODEL: model,
      },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' },
    },
  }),
  compact: '/compact',
  callFor(deed, folder) {
    const file_path = join(folder, deed.file)
    if (deed.does !== 'edit') return { name: 'Read', input: { file_path } }
    return { name: 'Edit', input: { file_path, old_string: deed.from, new_string: deed.to } }
  },
}

const codex: Agent = {
  command: 'codex',
  asks: 'Responses',
  prepare({ url }, { home }, model) {
    mkdirSync(join(home, '.codex'), { recursive: true })
    const settings = `model = "${model}"
model_provider = "gazeway"
model_context_window = ${FULL * 2}
model_auto_compact_token_limit = ${FULL - 10_000}
[model_providers.gazeway]
name = "Gazeway"
base_url = "${url}/v1"
env_key = "GAZEWAY_KEY"
wire_api = "responses"
`
    writeFileSync(join(home, '.codex/config.toml'), settings)
  },
  prompt: ({ key }, text, { isFirst }) => ({
    words: [
      'exec',
      ...(isFirst ? [] : ['resume', '--last']),
      ...['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', text],
    ],
    env: { GAZEWAY_KEY: key },
  }),
  compact: null,
  callFor(deed, folder) {
    const file = join(folder, deed.file)
    if (deed.does === 'look') return { name: 'view_image', input: { path: file } }
    const cmd = deed.does === 'edit' ? `sed -i s/${deed.from}/${deed.to}/ ${file}` : `cat ${file}`
    return { name: 'exec_command', input: { cmd } }
  },
}

const opencode: Agent = {
  command: 'opencode',
  asks: 'chat completions',
  prepare({ url }, { project }, model) {
    const settings = {
      model: `gazeway/${model}`,
      provider: {
        gazeway: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Gazeway',
          options: { baseURL: `${url}/v1`, apiKey: '{env:GAZEWAY_KEY}' },
          models: {
            [model]: {
              attachment: true,
              modalities: { input: ['text', 'image'], output: ['text'] },
              limit: { context: FULL, output: 4_000 },
            },
          },
        },
      },
    }
    writeFileSync(join(project, 'opencode.json'), JSON.stringify(settings))
  },
  prompt: ({ key }, text, { isFirst }) => ({
    words: ['run', ...(isFirst ? [] : ['--continue']), '--auto', text],
    // Without a network it would wait for lists and downloads.
    env: {
      GAZEWAY_KEY: key,
      ...{ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    },
  }),
  compact: null,
  callFor(deed, folder) {
    const filePath = join(folder, deed.file)
    if (deed.does !== 'edit') return { name: 'read', input: { filePath } }
    return { name: 'edit', input: { filePath, oldString: deed.from, newString: deed.to } }
  },
}

const qwen: Agent = {
  command: 'qwen',
  asks: 'chat completions',
  prepare(_gateway, { home }) {
    // It reads images for models that it knows by name alone.
    mkdirSync(join(home, '.qwen'), { recursive: true })
    const settings = { model: { generationConfig: { modalities: { image: true } } } }
    writeFileSync(join(home, '.qwen/settings.json'), JSON.stringify(settings))
  },
  prompt: ({ url, key }, text, { isFirst, model }) => ({
    words: [...(isFirst ? [] : ['--continue']), '--yolo', text],
    env: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model },
  }),
  compact: '/compress',
  callFor(deed, folder) {
    const file_path = join(folder, deed.file)
    if (deed.does !== 'edit') return { name: 'read_file', input: { file_path } }
    return { name: 'edit', input: { file_path, old_string: deed.from, new_string: deed.to } }
  },
}

const gemini: Agent = {
  command: 'gemini',
  asks: 'Google’s Gemini API',
  prepare(_gateway, { home }) {
    mkdirSync(join(home, '.gemini'), { recursive: true })
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings))
  },
  prompt: ({ url, key }, text, { isFirst, model }) => ({
    words: [...(isFirst ? [] : ['--resume', 'latest']), '--yolo', '--skip-trust', '-m', model, '-p', text],
    env: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key },
  }),
  compact: '/compress',
  callFor(deed, folder) {
    const file_path = join(folder, deed.file)
    if (deed.does !== 'edit') return { name: 'read_file', input: { file_path } }
    const instruction = `Change ${deed.from} to ${deed.to}.`
    return { name: 'replace', input: { file_path, instruction, old_string: deed.from, new_string: deed.to } }
  },
}

/** The agents, by the name that the table of results has. */
export const AGENTS = {
  'Claude Code': claude,
  Codex: codex,
  opencode,
  'qwen-code': qwen,
  'Gemini CLI': gemini,
} satisfies Record<string, Agent>
