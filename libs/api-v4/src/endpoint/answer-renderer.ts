import type { Page } from '@rookery/kernel';
import type { AnswerHeaders } from '../answers/answers';
import type { RawParams } from '../params/bracket-params';
import type { Call } from '../call/call';
import type { EndpointRecord } from './endpoint';
import type { JsonPage } from '../answers/json-text';
import { JsonText } from '../answers/json-text';
import type { KeysetPage } from '../answers/keyset';
import { keysetHeaders, pageHeaders } from '../params/paging';
import type { PresentContext, Presenter } from '../answers/presenter';
import type { ApiRuntime } from './runtime';
import type { ApiRequest } from '../call/api-request';

export const NO_HEADERS: readonly string[] = [];

/** Body and headers of an answer. `text` is null for an empty body. */
export interface AnswerText {
  readonly text: string | null;
  readonly headers: readonly string[];
}

/**
 * Renders a handler's result as the kind of answer that its endpoint declares: rows by presenters, pages with links and
 * totals. JSON that the database built is sent unchanged. Source: ADR 0033.
 */
export class AnswerRenderer {
  constructor(
    private readonly answers: EndpointRecord['options']['answers'],
    private readonly runtime: Pick<ApiRuntime, 'links' | 'services'>,
  ) {}

  contentOf(result: unknown, call: Call, request: ApiRequest): AnswerText | Promise<AnswerText> {
    const { kind, message, presenter } = this.answers;
    if (result instanceof JsonText) return { text: result.text, headers: NO_HEADERS };
    switch (kind) {
      case 'none':
      case 'empty':
      case 'file':
      case 'web':
        return { text: null, headers: NO_HEADERS };
      case 'message':
        return { text: JSON.stringify({ message }), headers: NO_HEADERS };
      case 'headers':
        return { text: null, headers: Object.entries(result as AnswerHeaders).flat() };
      case 'redirect':
        return { text: null, headers: ['location', result as string] };
      case 'json':
        return { text: JSON.stringify(result ?? null), headers: NO_HEADERS };
      case 'one':
        return this.presentRow(presenter as Presenter<unknown>, result, call);
      case 'all':
        return this.presentRows(presenter as Presenter<unknown>, result as readonly unknown[], NO_HEADERS, call);
      case 'page':
        return this.presentPage(result as Page<unknown> | JsonPage | KeysetPage<unknown>, call, request);
    }
  }

  private async presentRow(presenter: Presenter<unknown>, row: unknown, call: Call): Promise<AnswerText> {
    return { text: await presenter.renderRow(row, this.createPresentContext(call)), headers: NO_HEADERS };
  }

  private async presentRows(
    presenter: Presenter<unknown>,
    rows: readonly unknown[],
    headers: readonly string[],
    call: Call,
  ): Promise<AnswerText> {
    return { text: await presenter.renderList(rows, this.createPresentContext(call)), headers };
  }

  private presentPage(
    result: Page<unknown> | JsonPage | KeysetPage<unknown>,
    call: Call,
    request: ApiRequest,
  ): AnswerText | Promise<AnswerText> {
    const url = request.raw.url!;
    const end = url.indexOf('?');
    const source = {
      url: this.runtime.links.webUrl(end < 0 ? url : url.slice(0, end)),
      path: request.params as RawParams,
      query: request.query as RawParams,
      params: call.params as RawParams,
    };
    const headers =
      'next' in result ? keysetHeaders(call.page.perPage, result.next, source) : pageHeaders(call.page, result, source);
    if ('json' in result) return { text: result.json, headers };
    return this.presentRows(this.answers.presenter as Presenter<unknown>, result.rows, headers, call);
  }

  private createPresentContext(call: Call): PresentContext {
    const { links, services } = this.runtime;
    return { viewer: call.viewer, links, within: call.within, get: (token) => services.get(token) };
  }
}
