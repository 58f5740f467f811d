import { parseMergeRequestPushOptions, humanizeName } from './request-options';

const NONE = {
  ...{ creates: false, target: undefined, targetProject: undefined, title: undefined, description: undefined },
  ...{ isDraft: false, milestone: undefined, removesSource: undefined, squash: undefined, mergesAutomatically: false },
  ...{ labels: [], unlabels: [], assignees: [], unassignees: [] },
};

it.each<[readonly string[], object]>([
  [['ci.skip', 'create', 'merge_request.unknown=1', 'merge_request.'], {}],
  [['merge_request.create'], { creates: true }],
  [['merge_request.create=false'], {}],
  [['merge_request.title=a=b', 'merge_request.title=c=d'], { title: 'c=d' }],
  [['merge_request.title='], {}],
  [['merge_request.target=stable', 'merge_request.target_project=a/b'], { target: 'stable', targetProject: 'a/b' }],
  [[String.raw`merge_request.description=One\nTwo`], { description: 'One\nTwo' }],
  [
    ['merge_request.draft', 'merge_request.squash', 'merge_request.remove_source_branch'],
    { isDraft: true, squash: true, removesSource: true },
  ],
  [['merge_request.squash=false', 'merge_request.remove_source_branch=0'], { squash: false, removesSource: false }],
  [['merge_request.merge_when_pipeline_succeeds'], { mergesAutomatically: true }],
  [['merge_request.auto_merge'], { mergesAutomatically: true }],
  [
    ['merge_request.label=a', 'merge_request.label=b c', 'merge_request.unlabel=d'],
    { labels: ['a', 'b c'], unlabels: ['d'] },
  ],
  [
    ['merge_request.assign=7', 'merge_request.assign=kim', 'merge_request.unassign=lee'],
    { assignees: ['7', 'kim'], unassignees: ['lee'] },
  ],
  [['merge_request.milestone=v1'], { milestone: 'v1' }],
])('reads %j', (options, read) => {
  expect(parseMergeRequestPushOptions(options)).toEqual({ ...NONE, ...read });
});

it.each([
  ['add-a_page', 'Add a page'],
  ['feature/x--y', 'Feature/x y'],
  ['--', '--'],
])('makes a title of the branch %s', (branch, title) => {
  expect(humanizeName(branch)).toBe(title);
});
