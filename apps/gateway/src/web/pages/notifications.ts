import { html } from 'hono/html';
import { renderFormTokenField, Redirect, sitePath } from '../page';
import type { Html, WebSitePage, WebSitePageRequest } from '../page';

/** A notification setting. `events` are its switches, which the API shows with the level `custom`. */
interface NotificationSetting {
  readonly level: string;
  readonly notification_email?: string | null;
  readonly events?: Readonly<Record<string, boolean>>;
}

const LEVELS: readonly (readonly [string, string])[] = [
  ['global', 'As set one level above'],
  ['watch', 'Everything that happens there'],
  ['participating', 'Everything that you take part in'],
  ['mention', 'Only mentions and assignments'],
  ['custom', 'Everything that you take part in, and the events that you choose'],
  ['disabled', 'Nothing'],
];

/** A place that has a notification setting. */
export interface NotificationPlace {
  readonly kind: 'projects' | 'groups';
  readonly path: string;
}

/** Shows and changes what the person gets e-mails about: in general (`null`), or in a group or project. */
export async function notificationSettingsPage(
  request: WebSitePageRequest,
  place: NotificationPlace | null,
): Promise<WebSitePage> {
  const above = place === null ? '' : `/${place.kind}/${encodeURIComponent(place.path)}`;
  const api = `${above}/notification_settings`;
  const setting = await request.api.get<NotificationSetting>(api);
  if (request.form) {
    await request.api.write('PUT', api, readSettingChanges(request.form, setting));
    throw new Redirect(`${request.path}?saved=yes`);
  }
  const levels = place === null ? LEVELS.slice(1) : LEVELS;
  return {
    title: place === null ? 'Notifications' : `Notifications · ${place.path}`,
    content: html`${place === null ? '' : html`<p class="crumbs"><a href="${sitePath(place.path)}">${place.path}</a></p>`}
      <h1>Notifications</h1>
      ${request.query.get('saved') === null ? '' : html`<p class="notice" role="status">Your setting is saved.</p>`}
      <form method="post" action="${request.path}">
        ${renderFormTokenField(request)}
        <fieldset>
          <legend>Send me e-mails about</legend>
          ${levels.map(([level, words]) => renderRadioOrCheckbox('radio', { name: 'level', value: level, words, on: isChosenLevel(setting, level, place) }))}
        </fieldset>
        ${setting.events ? renderNotificationEventCheckboxes(setting.events) : ''}
        ${place === null ? renderNotificationEmailField(setting.notification_email ?? '') : ''}
        <button class="main">Save</button>
      </form>`,
  };
}

/** In general, `global` counts as `participating`. Source: reference work-tracking 8.1. */
function isChosenLevel({ level }: NotificationSetting, option: string, place: NotificationPlace | null): boolean {
  return (place === null && level === 'global' ? 'participating' : level) === option;
}

function renderNotificationEventCheckboxes(events: Readonly<Record<string, boolean>>): Html {
  return html`<fieldset>
    <legend>Events</legend>
    ${Object.entries(events).map(([name, on]) => renderRadioOrCheckbox('checkbox', { name: 'event', value: name, words: name.replaceAll('_', ' '), on }))}
  </fieldset>`;
}

function renderNotificationEmailField(email: string): Html {
  return html`<p>
    <label>Address<input type="text" name="notification_email" value="${email}" autocomplete="email" /></label>
    <span class="soft">One of your confirmed addresses.</span>
  </p>`;
}

interface FormChoice {
  readonly name: string;
  readonly value: string;
  readonly words: string;
  readonly on: boolean;
}

function renderRadioOrCheckbox(type: 'radio' | 'checkbox', { name, value, words, on }: FormChoice): Html {
  const input = on
    ? html`<input type="${type}" name="${name}" value="${value}" checked />`
    : html`<input type="${type}" name="${name}" value="${value}" />`;
  return html`<p class="choice"><label>${input} ${words}</label></p>`;
}

/** Switches are sent only if the form showed them: an unchecked box and an absent one look alike in a form. */
function readSettingChanges(form: URLSearchParams, { events = {} }: NotificationSetting): object {
  const on = new Set(form.getAll('event'));
  const email = form.get('notification_email');
  return {
    level: form.get('level') ?? '',
    ...Object.fromEntries(Object.keys(events).map((name) => [name, on.has(name)])),
    ...(email ? { notification_email: email } : {}),
  };
}
