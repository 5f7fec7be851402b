import { join } from 'node:path'
import { madeUpReading } from './reading.ts'

/** One call of the demonstration. */
export interface Step {
  tool: string
  input: Record<string, unknown>
}

/**
 * A session that uses every tool once, each where it would really be used.
 *
 * @param project the folder of this repository
 */
export function story(project: string, now: Date): Step[] {
  return [
    {
      tool: 'gateway_memory_store',
      input: {
        key: 'release/checklist',
        value: 'Run the bench before a release, and write what users notice into CHANGELOG.md.',
        tags: ['release'],
      },
    },
    { tool: 'gateway_memory_recall', input: { key: 'release/checklist' } },
    { tool: 'gateway_memory_search', input: { query: 'what to do befor a relase' } },
    { tool: 'gateway_store_gaze_data', input: { session_id: 'demo', records: madeUpReading(now) } },
    { tool: 'gateway_retrieve_gaze_data', input: { path: 'tools', limit: 3 } },
    { tool: 'gateway_analyze_gaze_pattern', input: { session_id: 'demo', question: 'When did I lose focus?' } },
    { tool: 'gateway_get_context', input: { query: 'fallback of the research model', max_tokens: 1500 } },
    {
      tool: 'gateway_llm_query',
      // Only src: the sandbox quotes what fits the question best, which else is the question itself in this file.
      input: { query: 'What answers when the responses endpoint fails?', root: join(project, 'src') },
    },
    {
      tool: 'gateway_chat_completion',
      input: {
        messages: [
          { role: 'system', content: 'A saccade is a jump of the eyes. A fixation is the rest between two jumps.' },
          { role: 'user', content: 'What is a fixation?' },
        ],
        max_tokens: 60,
      },
    },
    { tool: 'gateway_gateway', input: { method: 'GET', path: '/models' } },
    { tool: 'gateway_upstream_api_history', input: { limit: 3 } },
    { tool: 'gateway_upstream_api_stats', input: { group_by: 'path' } },
  ]
}
