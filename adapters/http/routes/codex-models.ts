import { present } from '../../../src/text/present.ts'
import type { DescribedModel } from './model-formats.ts'

/**
 * Instructions that Codex gives a model which it does not know. It requires some with each entry, and sends those alone.
 */
const INSTRUCTIONS = `You are a coding agent in Codex, a program in the user's terminal. You work in a folder of the user.

- Work on the task until it is done. Ask only what neither the code nor a command can tell you.
- Read what you are about to change, and follow the style around it. Change no more than the task needs.
- Never undo changes that you did not make, and commit only when you are asked to.
- AGENTS.md files hold for the folder that they are in; deeper ones take precedence, and the user's own words before all.
- Keep the user's plan up to date where there is a tool for it. Say in a line what you are about to do before long work.
- Check your work with the project's own tests and tools.
- End with a short answer: what has changed, and what you could not check.`

/** Models that Codex has better entries for. Those that a list sends replace them. */
const OWN = /(?:^|\/)(?:gpt-|codex|o\d)/

const LEVELS = [
  { effort: 'low', description: 'Thinks briefly' },
  { effort: 'medium', description: 'Thinks as long as most tasks need' },
  { effort: 'high', description: 'Thinks long, for hard problems' },
]

/**
 * Models in the format that Codex asks for with `?client_version=`, in place of its guesses for a model that it does not
 * know. One without a known context window is omitted: Codex would never compact its conversations. Every field that some
 * version requires is present (`ModelInfo` in codex-rs/protocol/src/openai_models.rs).
 */
export const inCodex = (models: readonly DescribedModel[]): object[] =>
  models.filter(({ model, known }) => known.context !== undefined && !OWN.test(model.id)).map(entry)

function entry({ model, known }: DescribedModel, index: number): object {
  const { name, context, inputs, parameters = [] } = known
  const thinks = parameters.includes('reasoning') || parameters.includes('reasoning_effort')
  return {
    slug: model.id,
    display_name: name ?? model.id,
    description: null,
    ...present({ default_reasoning_level: thinks ? 'medium' : undefined }),
    supported_reasoning_levels: thinks ? LEVELS : [],
    // Codex sends an effort only where summaries are supported.
    supports_reasoning_summaries: thinks,
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    // After its own.
    priority: 1000 + index,
    upgrade: null,
    base_instructions: INSTRUCTIONS,
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: null,
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    supports_parallel_tool_calls: true,
    context_window: context,
    experimental_supported_tools: [],
    ...present({ input_modalities: inputs?.filter((kind) => kind === 'text' || kind === 'image') }),
  }
}
