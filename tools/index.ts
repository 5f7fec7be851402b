import { analyzeGazePattern } from './analyze-gaze-pattern.ts'
import { chatCompletion } from './chat-completion.ts'
import { upstreamGateway } from './gateway.ts'
import { getContext } from './get-context.ts'
import { llmQuery } from './llm-query.ts'
import { memoryRecall } from './memory-recall.ts'
import { memorySearch } from './memory-search.ts'
import { memoryStore } from './memory-store.ts'
import { retrieveGazeData } from './retrieve-gaze-data.ts'
import { storeGazeData } from './store-gaze-data.ts'
import { type Tool, withNotice } from './tool.ts'
import { upstreamApiHistory } from './upstream-api-history.ts'
import { upstreamApiStats } from './upstream-api-stats.ts'

/** The twelve tools, in the specification's order. */
export const tools: readonly Tool[] = [
  withNotice(llmQuery),
  // No `withNotice`: its output contains the notice, counted within its token budget.
  getContext,
  storeGazeData,
  withNotice(retrieveGazeData),
  withNotice(analyzeGazePattern),
  withNotice(chatCompletion),
  withNotice(upstreamApiHistory),
  withNotice(upstreamApiStats),
  withNotice(upstreamGateway),
  memoryStore,
  withNotice(memoryRecall),
  withNotice(memorySearch),
]
