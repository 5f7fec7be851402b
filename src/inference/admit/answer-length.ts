import { GazewayError } from '../../errors.ts'
import type { Usage } from '../../providers/token-usage.ts'
import type { Micros } from '../../text/money.ts'
import type { BorneStream } from '../../wallet/budget/absorbed-costs.ts'

/** Part of a limit, and tokens, by which the tokenizer of a provider may count less than ours. */
const [MARGIN_PART, MARGIN_TOKENS] = [0.5, 256]

/** Dependencies of {@link createAnswerLength}. */
interface AnswerLengthDeps {
  /** Answer tokens that are reserved at first. */
  limit: number
  /** Cost of further answer tokens. */
  more(tokens: number): Micros
  /**
   * Reserves more money of the caller.
   *
   * @throws GazewayError `invalid_api_key` or `key_expired`
   */
  reserve(micros: Micros): Promise<boolean>
  /** Bears what comes after the limit, which the client set. Null where the caller pays it. */
  borne: BorneStream | null
}

/** Length that an answer may have. */
export interface AnswerLength {
  /** @returns false when no more is paid or borne; see `Bill.extend` */
  extend(tokens: number): Promise<boolean>
  /** Builds the error that a stream ends with which may not grow. */
  outgrown(): GazewayError
  /** Number of tokens that it may have now. */
  tokens(): number
  /**
   * Number of answer tokens that the caller pays: no more than the limit that it sent. A count of ours which exceeds that
   * by less than tokenizers differ is no proof that the model has.
   */
  paidTokens(usage: Usage | null): number
  /** Ends what is borne. */
  end(): void
}

/** Creates the length of one answer. It grows with the stream, at the cost of the caller or the operator. */
export function createAnswerLength({ limit, more, reserve, borne }: AnswerLengthDeps): AnswerLength {
  let tokens = limit
  const isClearlyBeyond = (to: number): boolean => to > limit * (1 + MARGIN_PART) + MARGIN_TOKENS

  return {
    tokens: () => tokens,
    paidTokens(usage) {
      if (borne === null) return tokens
      const isInMargin = usage?.estimated === true && !isClearlyBeyond(usage.completion_tokens)
      return isInMargin ? Math.max(limit, usage.completion_tokens) : limit
    },
    async extend(by) {
      const to = tokens + by
      if (borne === null && !(await reserve(more(by)))) return false
      if (borne !== null && isClearlyBeyond(to) && !(await borne.raise(more(to - limit)))) return false
      tokens = to
      return true
    },
    outgrown: borne === null ? overBudget : beyondLimit,
    end: () => borne?.end(),
  }
}

/** Error of a stream for which the caller has no more money. */
export function overBudget(): GazewayError {
  return new GazewayError('budget_reached', 'The answer was cut off: the budget or credit of this key is used up.')
}

function beyondLimit(): GazewayError {
  return new GazewayError(
    'limit_not_kept',
    'The answer was cut off: the model went on beyond the limit of its answer, and the operator bears no more of that for this key today.',
  )
}
