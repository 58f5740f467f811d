-- issues_participants_20: $1 is_admin, $2 viewer, $3 reads_internal, $4 parent, $5 named, $6 reads_confidential, $7 is_member
select
  (
    select
      count(*)::int
    from
      (
        select
          1
        from
          directory_users u
          join lateral (
            select
              p.id as project_id,
              p.name,
              p.path,
              home.full_path || '/' || p.path as full_path,
              home.full_name || ' / ' || p.name as name_with_namespace,
              p.description,
              p.created_at,
              home.traversal_ids,
              p.emails_enabled,
              (
                p.issues_access_level = 'enabled'
                or (
                  p.issues_access_level = 'private'
                  and held.level >= 10
                )
              ) as reads_issues,
              (
                p.merge_requests_access_level = 'enabled'
                or (
                  p.merge_requests_access_level = 'private'
                  and held.level >= 10
                )
              )
              and coalesce(p.repository_access_level, 'enabled') <> 'disabled'
              and (
                held.level >= 20
                or (
                  p.visibility <> 'private'
                  and (
                    held.level >= 10
                    or coalesce(p.repository_access_level, 'enabled') = 'enabled'
                  )
                )
              ) as reads_merge_requests,
              (
                p.snippets_access_level = 'enabled'
                or (
                  p.snippets_access_level = 'private'
                  and held.level >= 10
                )
              ) as reads_snippets,
              held.level >= 10 as is_member,
              held.level >= 15 as reads_confidential,
              held.level >= 20 as reads_internal
            from
              directory_projects p
              join directory_namespaces home on home.id = p.namespace_id
              cross join lateral (
                select
                  case
                    when (
                      u.admin
                      and (
                        :is_admin::boolean
                        or u.id = :viewer::bigint
                      )
                    ) then 50
                    when u.id is null then 0
                    else coalesce(
                      (
                        select
                          max(held.level)::integer
                        from
                          (
                            select
                              m.access_level as level
                            from
                              directory_memberships m
                            where
                              m.user_id = u.id
                              and m.source_type = 'project'
                              and m.source_id = p.id
                              and (
                                m.expires_on is null
                                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                            union all
                            select
                              least(s.access_level, m.access_level)
                            from
                              directory_shares s
                              join directory_namespaces invited on invited.id = s.group_id
                              join directory_memberships m on m.user_id = u.id
                              and m.source_type = 'namespace'
                              and m.source_id = any (invited.traversal_ids)
                            where
                              s.source_type = 'project'
                              and s.source_id = p.id
                              and (
                                s.expires_on is null
                                or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                              and (
                                m.expires_on is null
                                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                            union all
                            select
                              m.access_level as level
                            from
                              directory_memberships m
                            where
                              m.user_id = u.id
                              and m.source_type = 'namespace'
                              and m.source_id = any (home.traversal_ids)
                              and (
                                m.expires_on is null
                                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                            union all
                            select
                              least(s.access_level, m.access_level)
                            from
                              directory_shares s
                              join directory_namespaces invited on invited.id = s.group_id
                              join directory_memberships m on m.user_id = u.id
                              and m.source_type = 'namespace'
                              and m.source_id = any (invited.traversal_ids)
                            where
                              s.source_type = 'namespace'
                              and s.source_id = any (home.traversal_ids)
                              and (
                                s.expires_on is null
                                or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                              and (
                                m.expires_on is null
                                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                            union all
                            select
                              50
                            where
                              home.kind = 'user'
                              and home.owner_id = u.id
                          ) held
                      ),
                      0
                    )
                  end as level
                offset
                  0
              ) held
            where
              p.id = i.project_id
              and (
                p.visibility = 'public'
                or held.level >= 10
                or (
                  p.visibility = 'internal'
                  and u.id is not null
                  and not u.external
                )
              )
            offset
              0
          ) a on true
        where
          u.id = any (
            array(
              select
                i.author_id
              union
              select
                *
              from
                (
                  select
                    s.user_id
                  from
                    issue_assignees s
                  where
                    s.issue_id = i.id
                ) s
              union
              select
                p.user_id
              from
                participants p
                left join notes by on by.id = p.note_id
              where
                p.noteable_id = i.id
                and p.noteable_type = 'Issue'
                and (
                  :reads_internal::boolean
                  or p.note_id is null
                  or not by.internal
                  or p.user_id in (
                    select
                      n.author_id
                    from
                      notes n
                    where
                      n.noteable_id = i.id
                      and n.noteable_type = 'Issue'
                      and not n.system
                      and (
                        not n.internal
                        or :reads_internal::boolean
                      )
                    offset
                      0
                  )
                )
              union
              select
                :viewer::bigint
              where
                :viewer::bigint in (
                  select
                    n.author_id
                  from
                    notes n
                  where
                    n.noteable_id = i.id
                    and n.noteable_type = 'Issue'
                    and not n.system
                    and (
                      not n.internal
                      or :reads_internal::boolean
                    )
                  offset
                    0
                )
            )
          )
          and a.reads_issues
          and (
            not i.confidential
            or a.reads_confidential
            or (
              i.author_id = u.id
              and a.is_member
            )
            or u.id in (
              select
                seen.user_id
              from
                issue_assignees seen
              where
                seen.issue_id = i.id
            )
          )
        limit
          10001
      ) c
  ) as counted,
  null::boolean as has_more,
  (
    select
      '[' || coalesce(
        string_agg(
          format(
            '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
            u.id,
            u.username,
            coalesce(to_json(u.public_email)::text, 'null'),
            to_json(u.name),
            u.state,
            coalesce(
              to_json(
                case
                  when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                  else u.avatar_url
                end
              )::text,
              'null'
            ),
            u.username
          ),
          ','
          order by
            u.id asc
        ),
        ''
      ) || ']'
    from
      (
        select
          u.*
        from
          directory_users u
          join lateral (
            select
              p.id as project_id,
              p.name,
              p.path,
              home.full_path || '/' || p.path as full_path,
              home.full_name || ' / ' || p.name as name_with_namespace,
              p.description,
              p.created_at,
              home.traversal_ids,
              p.emails_enabled,
              (
                p.issues_access_level = 'enabled'
                or (
                  p.issues_access_level = 'private'
                  and held.level >= 10
                )
              ) as reads_issues,
              (
                p.merge_requests_access_level = 'enabled'
                or (
                  p.merge_requests_access_level = 'private'
                  and held.level >= 10
                )
              )
              and coalesce(p.repository_access_level, 'enabled') <> 'disabled'
              and (
                held.level >= 20
                or (
                  p.visibility <> 'private'
                  and (
                    held.level >= 10
                    or coalesce(p.repository_access_level, 'enabled') = 'enabled'
                  )
                )
              ) as reads_merge_requests,
              (
                p.snippets_access_level = 'enabled'
                or (
                  p.snippets_access_level = 'private'
                  and held.level >= 10
                )
              ) as reads_snippets,
              held.level >= 10 as is_member,
              held.level >= 15 as reads_confidential,
              held.level >= 20 as reads_internal
            from
              directory_projects p
              join directory_namespaces home on home.id = p.namespace_id
              cross join lateral (
                select
                  case
                    when (
                      u.admin
                      and (
                        :is_admin::boolean
                        or u.id = :viewer::bigint
                      )
                    ) then 50
                    when u.id is null then 0
                    else coalesce(
                      (
                        select
                          max(held.level)::integer
                        from
                          (
                            select
                              m.access_level as level
                            from
                              directory_memberships m
                            where
                              m.user_id = u.id
                              and m.source_type = 'project'
                              and m.source_id = p.id
                              and (
                                m.expires_on is null
                                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                            union all
                            select
                              least(s.access_level, m.access_level)
                            from
                              directory_shares s
                              join directory_namespaces invited on invited.id = s.group_id
                              join directory_memberships m on m.user_id = u.id
                              and m.source_type = 'namespace'
                              and m.source_id = any (invited.traversal_ids)
                            where
                              s.source_type = 'project'
                              and s.source_id = p.id
                              and (
                                s.expires_on is null
                                or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                              and (
                                m.expires_on is null
                                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                            union all
                            select
                              m.access_level as level
                            from
                              directory_memberships m
                            where
                              m.user_id = u.id
                              and m.source_type = 'namespace'
                              and m.source_id = any (home.traversal_ids)
                              and (
                                m.expires_on is null
                                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                            union all
                            select
                              least(s.access_level, m.access_level)
                            from
                              directory_shares s
                              join directory_namespaces invited on invited.id = s.group_id
                              join directory_memberships m on m.user_id = u.id
                              and m.source_type = 'namespace'
                              and m.source_id = any (invited.traversal_ids)
                            where
                              s.source_type = 'namespace'
                              and s.source_id = any (home.traversal_ids)
                              and (
                                s.expires_on is null
                                or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                              and (
                                m.expires_on is null
                                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                              )
                            union all
                            select
                              50
                            where
                              home.kind = 'user'
                              and home.owner_id = u.id
                          ) held
                      ),
                      0
                    )
                  end as level
                offset
                  0
              ) held
            where
              p.id = i.project_id
              and (
                p.visibility = 'public'
                or held.level >= 10
                or (
                  p.visibility = 'internal'
                  and u.id is not null
                  and not u.external
                )
              )
            offset
              0
          ) a on true
        where
          u.id = any (
            array(
              select
                i.author_id
              union
              select
                *
              from
                (
                  select
                    s.user_id
                  from
                    issue_assignees s
                  where
                    s.issue_id = i.id
                ) s
              union
              select
                p.user_id
              from
                participants p
                left join notes by on by.id = p.note_id
              where
                p.noteable_id = i.id
                and p.noteable_type = 'Issue'
                and (
                  :reads_internal::boolean
                  or p.note_id is null
                  or not by.internal
                  or p.user_id in (
                    select
                      n.author_id
                    from
                      notes n
                    where
                      n.noteable_id = i.id
                      and n.noteable_type = 'Issue'
                      and not n.system
                      and (
                        not n.internal
                        or :reads_internal::boolean
                      )
                    offset
                      0
                  )
                )
              union
              select
                :viewer::bigint
              where
                :viewer::bigint in (
                  select
                    n.author_id
                  from
                    notes n
                  where
                    n.noteable_id = i.id
                    and n.noteable_type = 'Issue'
                    and not n.system
                    and (
                      not n.internal
                      or :reads_internal::boolean
                    )
                  offset
                    0
                )
            )
          )
          and a.reads_issues
          and (
            not i.confidential
            or a.reads_confidential
            or (
              i.author_id = u.id
              and a.is_member
            )
            or u.id in (
              select
                seen.user_id
              from
                issue_assignees seen
              where
                seen.issue_id = i.id
            )
          )
        order by
          u.id asc
        limit
          20
      ) u
  ) as json
from
  issues i
where
  i.project_id = :parent::bigint
  and i.iid = :named::bigint
  and (
    not i.confidential
    or :reads_confidential::boolean
    or (
      i.author_id = :viewer::bigint
      and :is_member::boolean
    )
    or :viewer::bigint in (
      select
        seen.user_id
      from
        issue_assignees seen
      where
        seen.issue_id = i.id
    )
  )
