import { Controller } from '@nestjs/common';
import { anyone, Endpoint, page, project, signedIn } from '@rookery/api-v4';
import type { Call, JsonPage, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { toActivityFilter, ListActivity, ListActivityOfUser, ListOwnActivity } from './activity.dto';
import { ActivityQueries } from './activity.queries';
import { activityEventShape } from './activity-event.shape';

const answers = page(activityEventShape.presenter);

@Controller()
export class ActivityController {
  constructor(private readonly activity: ActivityQueries) {}

  @Endpoint('GET', 'events', {
    about: "Lists the caller's activity, or with `scope=all` all activity in their projects.",
    source: 'requirements 1 §4 Events, §5; reference work-tracking 7.1',
    may: signedIn(),
    params: ListOwnActivity,
    answers,
    tokenScopes: ['read_user'],
  })
  own({ params, viewer, page }: Call<ListOwnActivity, undefined, SignedInViewer>): Promise<JsonPage> {
    const { activity } = this;
    if (params.scope === 'all') return activity.ofMemberships(viewer, toActivityFilter(params), page);
    return activity.listOwn(viewer, toActivityFilter(params), page);
  }

  @Endpoint('GET', 'users/:id/events', {
    about: 'Lists the activity of a user that the caller may see.',
    source: 'requirements 1 §4 Events, §5; reference work-tracking 7.1',
    may: anyone(),
    params: ListActivityOfUser,
    answers,
    tokenScopes: ['read_user'],
  })
  ofUser({ params, viewer, page }: Call<ListActivityOfUser>): Promise<JsonPage> {
    const person = { ref: params.id, all: params.scope === 'all' };
    return this.activity.ofUser(viewer, person, toActivityFilter(params), page);
  }

  @Endpoint('GET', 'projects/:id/events', {
    about: 'Lists the activity in a project.',
    source: 'requirements 1 §4 Events; reference work-tracking 7.1',
    within: project('id'),
    may: anyone(),
    params: ListActivity,
    answers,
  })
  ofProject({ params, viewer, within, page }: Call<ListActivity, ProjectScope>): Promise<JsonPage> {
    return this.activity.ofProject(viewer, within, toActivityFilter(params), page);
  }
}
