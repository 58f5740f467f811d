-- todos_page_all_pending_20: $1 viewer, $2 is_admin, $3 is_external
select
  state.version,
  state.epoch,
  false as is_partial,
  (
    select
      u.state
    from
      directory_users u
    where
      u.id = :viewer::bigint
  ) as viewer_state,
  (
    select
      coalesce(
        sum(
          case
            when mine.project_id is null then (
              select
                count(*)
              from
                (
                  select
                    1
                  from
                    todos t
                    join lateral (
                      select
                        g.id as group_id,
                        g.name,
                        g.path,
                        g.full_path,
                        g.parent_id,
                        g.avatar_url,
                        g.traversal_ids,
                        g.emails_enabled,
                        g.plan <> 'free' as reads_epics,
                        held.level >= 10 as is_member,
                        held.level >= 15 as reads_confidential,
                        held.level >= 20 as reads_internal
                      from
                        directory_namespaces g
                        cross join lateral (
                          select
                            case
                              when :is_admin::boolean then 50
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
                                        m.user_id = :viewer::bigint
                                        and m.source_type = 'namespace'
                                        and m.source_id = any (g.traversal_ids)
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
                                        join directory_memberships m on m.user_id = :viewer::bigint
                                        and m.source_type = 'namespace'
                                        and m.source_id = any (invited.traversal_ids)
                                      where
                                        s.source_type = 'namespace'
                                        and s.source_id = any (g.traversal_ids)
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
                                        g.kind = 'user'
                                        and g.owner_id = :viewer::bigint
                                    ) held
                                ),
                                0
                              )
                            end as level
                          offset
                            0
                        ) held
                      where
                        g.id = t.group_id
                        and g.kind = 'group'
                        and :viewer::bigint is not null
                        and (
                          g.visibility = 'public'
                          or held.level >= 10
                          or (
                            g.visibility = 'internal'
                            and not :is_external::boolean
                          )
                        )
                      offset
                        0
                    ) a on true
                    join lateral (
                      select
                        a.reads_epics
                        and (
                          not i.confidential
                          or a.reads_confidential
                        ) as is_readable,
                        coalesce(octet_length(i.description), 0) as bytes
                      from
                        epics i
                      where
                        i.id = t.target_id
                        and t.target_type = 'Epic'
                      union all
                      select
                        a.is_member as is_readable,
                        0 as bytes
                      from
                        directory_namespaces i
                      where
                        i.id = t.target_id
                        and t.target_type = 'Namespace'
                    ) target on true
                    left join notes n on n.id = t.note_id
                  where
                    t.user_id = :viewer::bigint
                    and t.state = 'pending'
                    and t.project_id is null
                    and target.is_readable
                    and (
                      t.note_id is null
                      or (
                        n.id is not null
                        and (
                          not n.internal
                          or a.reads_internal
                        )
                      )
                    )
                  limit
                    10001
                ) seen
            )
            when a.project_id is null then 0
            when a.reads_issues
            and a.reads_internal then mine.count
            else (
              select
                count(*)
              from
                (
                  select
                    1
                  from
                    todos t
                    join lateral (
                      select
                        a.reads_issues
                        and (
                          not i.confidential
                          or a.reads_confidential
                          or (
                            i.author_id = :viewer::bigint
                            and a.is_member
                          )
                          or :viewer::bigint in (
                            select
                              seen.user_id
                            from
                              issue_assignees seen
                            where
                              seen.issue_id = i.id
                          )
                        ) as is_readable,
                        coalesce(octet_length(i.description), 0) + coalesce(
                          (
                            select
                              coalesce(octet_length(m.description), 0)
                            from
                              milestones m
                            where
                              m.id = i.milestone_id
                          ),
                          0
                        ) as bytes
                      from
                        issues i
                      where
                        i.id = t.target_id
                        and t.target_type = 'Issue'
                      union all
                      select
                        a.is_member as is_readable,
                        0 as bytes
                      from
                        directory_projects i
                      where
                        i.id = t.target_id
                        and t.target_type = 'Project'
                    ) target on true
                    left join notes n on n.id = t.note_id
                  where
                    t.user_id = :viewer::bigint
                    and t.state = 'pending'
                    and t.project_id = mine.project_id
                    and target.is_readable
                    and (
                      t.note_id is null
                      or (
                        n.id is not null
                        and (
                          not n.internal
                          or a.reads_internal
                        )
                      )
                    )
                  limit
                    10001
                ) seen
            )
          end
        ),
        0
      )::integer
    from
      (
        select
          t.project_id,
          count(*) as count
        from
          (
            select
              t.project_id
            from
              todos t
            where
              t.user_id = :viewer::bigint
              and t.state = 'pending'
            limit
              10001
          ) t
        group by
          t.project_id
      ) mine
      left join lateral (
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
                when :is_admin::boolean then 50
                when :viewer::bigint is null then 0
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
                          m.user_id = :viewer::bigint
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
                          join directory_memberships m on m.user_id = :viewer::bigint
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
                          m.user_id = :viewer::bigint
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
                          join directory_memberships m on m.user_id = :viewer::bigint
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
                          and home.owner_id = :viewer::bigint
                      ) held
                  ),
                  0
                )
              end as level
            offset
              0
          ) held
        where
          p.id = mine.project_id
          and (
            p.visibility = 'public'
            or held.level >= 10
            or (
              p.visibility = 'internal'
              and :viewer::bigint is not null
              and not :is_external::boolean
            )
          )
        offset
          0
      ) a on true
  ) as counted,
  null::boolean as has_more,
  (
    select
      case
        when bool_or(t.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not t.is_heavy then format(
                '{"id":%s,"author":%s,"action_name":"%s","target_type":"%s","target":%s,"target_url":%s,"body":%s,"state":"%s","created_at":"%s","updated_at":"%s"%s%s}',
                t.id,
                case
                  when author.id is not null then format(
                    '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                    author.id,
                    author.username,
                    coalesce(to_json(author.public_email)::text, 'null'),
                    to_json(author.name),
                    author.state,
                    coalesce(
                      to_json(
                        case
                          when left(author.avatar_url, 1) = '/' then 'http://localhost:8080' || author.avatar_url
                          else author.avatar_url
                        end
                      )::text,
                      'null'
                    ),
                    author.username
                  )
                  else 'null'
                end,
                t.action,
                t.target_type,
                target.json,
                to_json(
                  'http://localhost:8080/' || target.path || case t.action
                    when 'build_failed' then '/pipelines'
                    else ''
                  end || case
                    when t.note_id is null then ''
                    else '#note_' || t.note_id
                  end
                ),
                to_json(coalesce(n.body, target.title)),
                t.state,
                to_char((t.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                to_char((t.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                case
                  when t.group_id is null then format(
                    ',"project":{"id":%s,"description":%s,"name":%s,"name_with_namespace":%s,"path":%s,"path_with_namespace":%s,"created_at":"%s"}',
                    t.project_id,
                    coalesce(to_json(t.description)::text, 'null'),
                    to_json(t.name),
                    to_json(t.name_with_namespace),
                    to_json(t.path),
                    to_json(t.full_path),
                    to_char((t.project_created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                  )
                end,
                case
                  when t.group_id is not null then format(
                    ',"group":{"id":%s,"name":%s,"path":%s,"kind":"group","full_path":%s,"parent_id":%s,"avatar_url":%s,"web_url":"http://localhost:8080/groups/%s"}',
                    t.group_id,
                    to_json(t.name),
                    to_json(t.path),
                    to_json(t.full_path),
                    coalesce((t.parent_id)::text, 'null'),
                    coalesce(to_json(t.avatar_url)::text, 'null'),
                    t.full_path
                  )
                end
              )
            end,
            ','
            order by
              t.created_at desc,
              t.id desc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          t.*,
          sum(t.bytes) over () > 524288 as is_heavy
        from
          (
            select
              t.id,
              t.author_id,
              t.action,
              t.target_type,
              t.target_id,
              t.note_id,
              t.state,
              t.created_at,
              t.updated_at,
              a.project_id,
              a.group_id,
              a.name,
              a.path,
              a.full_path,
              a.name_with_namespace,
              a.description,
              a.created_at as project_created_at,
              a.parent_id,
              a.avatar_url,
              a.traversal_ids,
              a.reads_internal,
              target.bytes + coalesce(octet_length(n.body), 0) as bytes
            from
              todos t
              join lateral (
                select
                  p.project_id,
                  null::bigint as group_id,
                  p.name,
                  p.path,
                  p.full_path,
                  p.name_with_namespace,
                  p.description,
                  p.created_at,
                  null::bigint as parent_id,
                  null as avatar_url,
                  p.traversal_ids,
                  p.is_member,
                  p.reads_confidential,
                  p.reads_internal,
                  p.reads_issues,
                  p.reads_merge_requests,
                  p.reads_snippets,
                  false as reads_epics
                from
                  (
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
                            when :is_admin::boolean then 50
                            when :viewer::bigint is null then 0
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
                                      m.user_id = :viewer::bigint
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
                                      join directory_memberships m on m.user_id = :viewer::bigint
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
                                      m.user_id = :viewer::bigint
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
                                      join directory_memberships m on m.user_id = :viewer::bigint
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
                                      and home.owner_id = :viewer::bigint
                                  ) held
                              ),
                              0
                            )
                          end as level
                        offset
                          0
                      ) held
                    where
                      p.id = t.project_id
                      and (
                        p.visibility = 'public'
                        or held.level >= 10
                        or (
                          p.visibility = 'internal'
                          and :viewer::bigint is not null
                          and not :is_external::boolean
                        )
                      )
                    offset
                      0
                  ) p
                union all
                select
                  null,
                  its.group_id,
                  its.name,
                  its.path,
                  its.full_path,
                  null,
                  null,
                  null,
                  its.parent_id,
                  its.avatar_url,
                  its.traversal_ids,
                  its.is_member,
                  its.reads_confidential,
                  its.reads_internal,
                  false,
                  false,
                  false,
                  its.reads_epics
                from
                  (
                    select
                      g.id as group_id,
                      g.name,
                      g.path,
                      g.full_path,
                      g.parent_id,
                      g.avatar_url,
                      g.traversal_ids,
                      g.emails_enabled,
                      g.plan <> 'free' as reads_epics,
                      held.level >= 10 as is_member,
                      held.level >= 15 as reads_confidential,
                      held.level >= 20 as reads_internal
                    from
                      directory_namespaces g
                      cross join lateral (
                        select
                          case
                            when :is_admin::boolean then 50
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
                                      m.user_id = :viewer::bigint
                                      and m.source_type = 'namespace'
                                      and m.source_id = any (g.traversal_ids)
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
                                      join directory_memberships m on m.user_id = :viewer::bigint
                                      and m.source_type = 'namespace'
                                      and m.source_id = any (invited.traversal_ids)
                                    where
                                      s.source_type = 'namespace'
                                      and s.source_id = any (g.traversal_ids)
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
                                      g.kind = 'user'
                                      and g.owner_id = :viewer::bigint
                                  ) held
                              ),
                              0
                            )
                          end as level
                        offset
                          0
                      ) held
                    where
                      g.id = t.group_id
                      and g.kind = 'group'
                      and :viewer::bigint is not null
                      and (
                        g.visibility = 'public'
                        or held.level >= 10
                        or (
                          g.visibility = 'internal'
                          and not :is_external::boolean
                        )
                      )
                    offset
                      0
                  ) its
                where
                  t.group_id is not null
              ) a on true
              join lateral (
                select
                  a.reads_issues
                  and (
                    not i.confidential
                    or a.reads_confidential
                    or (
                      i.author_id = :viewer::bigint
                      and a.is_member
                    )
                    or :viewer::bigint in (
                      select
                        seen.user_id
                      from
                        issue_assignees seen
                      where
                        seen.issue_id = i.id
                    )
                  ) as is_readable,
                  coalesce(octet_length(i.description), 0) + coalesce(
                    (
                      select
                        coalesce(octet_length(m.description), 0)
                      from
                        milestones m
                      where
                        m.id = i.milestone_id
                    ),
                    0
                  ) as bytes
                from
                  issues i
                where
                  i.id = t.target_id
                  and t.target_type = 'Issue'
                union all
                select
                  a.reads_epics
                  and (
                    not i.confidential
                    or a.reads_confidential
                  ) as is_readable,
                  coalesce(octet_length(i.description), 0) as bytes
                from
                  epics i
                where
                  i.id = t.target_id
                  and t.target_type = 'Epic'
                union all
                select
                  a.is_member as is_readable,
                  0 as bytes
                from
                  directory_projects i
                where
                  i.id = t.target_id
                  and t.target_type = 'Project'
                union all
                select
                  a.is_member as is_readable,
                  0 as bytes
                from
                  directory_namespaces i
                where
                  i.id = t.target_id
                  and t.target_type = 'Namespace'
              ) target on true
              left join notes n on n.id = t.note_id
            where
              t.user_id = :viewer::bigint
              and t.state = 'pending'
              and target.is_readable
              and (
                t.note_id is null
                or (
                  n.id is not null
                  and (
                    not n.internal
                    or a.reads_internal
                  )
                )
              )
            order by
              t.created_at desc,
              t.id desc
            limit
              20
          ) t
      ) t
      join lateral (
        select
          (
            select
              format(
                '{"id":%s,"iid":%s,"project_id":%s,"title":%s,"description":%s,"state":"%s","created_at":"%s","updated_at":"%s","closed_at":%s,"closed_by":%s,"labels":[%s],"milestone":%s,"assignees":[%s],"author":%s,"type":"%s","assignee":%s,"user_notes_count":%s,"merge_requests_count":%s,"upvotes":%s,"downvotes":%s,"due_date":%s,"confidential":%s,"discussion_locked":%s,"issue_type":"%s","web_url":"http://localhost:8080/%s","time_stats":{"time_estimate":%s,"total_time_spent":%s,"human_time_estimate":%s,"human_total_time_spent":%s},"task_completion_status":{"count":%s,"completed_count":%s},"has_tasks":%s,"task_status":"%s","weight":%s,"blocking_issues_count":%s,"_links":{"self":"http://localhost:8080/api/v4/projects/%s","notes":"http://localhost:8080/api/v4/projects/%s","award_emoji":"http://localhost:8080/api/v4/projects/%s","project":"http://localhost:8080/api/v4/projects/%s","closed_as_duplicate_of":%s},"references":{"short":"#%s","relative":"#%s","full":"%s"},"severity":"UNKNOWN","moved_to_id":%s,"imported":%s,"imported_from":"%s","service_desk_reply_to":null,"epic_iid":%s,"epic":%s,"iteration":null,"health_status":null}',
                i.id,
                i.iid,
                i.project_id,
                to_json(i.title),
                coalesce(to_json(i.description)::text, 'null'),
                i.state,
                to_char((i.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                to_char((i.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                coalesce('"' || to_char((i.closed_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null'),
                coalesce(
                  case
                    when i.closed_by_id is not null then (
                      select
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
                        )
                      from
                        directory_users u
                      where
                        u.id = i.closed_by_id
                    )
                  end,
                  'null'
                ),
                coalesce(
                  (
                    select
                      string_agg(
                        to_json(l.title)::text,
                        ','
                        order by
                          l.title,
                          l.id
                      )
                    from
                      label_links ll
                      join labels l on l.id = ll.label_id
                      and (
                        l.project_id = i.project_id
                        or l.group_id = any (t.traversal_ids)
                      )
                    where
                      ll.noteable_id = i.id
                      and ll.noteable_type = 'Issue'
                  ),
                  ''
                ),
                coalesce(
                  case
                    when i.milestone_id is not null then (
                      select
                        format(
                          '{"id":%s,"iid":%s,"title":%s,"description":%s,"state":"%s","created_at":"%s","updated_at":"%s","due_date":%s,"start_date":%s,"expired":%s,"web_url":"http://localhost:8080/%s"%s%s}',
                          m.id,
                          m.iid,
                          to_json(m.title),
                          coalesce(to_json(m.description)::text, 'null'),
                          m.state,
                          to_char((m.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                          to_char((m.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                          coalesce('"' || to_char(m.due_on, 'YYYY-MM-DD') || '"', 'null'),
                          coalesce('"' || to_char(m.start_on, 'YYYY-MM-DD') || '"', 'null'),
                          case
                            when m.due_on < (now() at time zone 'UTC')::date then 'true'
                            else 'false'
                          end,
                          case
                            when m.group_id is null then t.full_path
                            else (
                              select
                                'groups/' || home.full_path
                              from
                                directory_namespaces home
                              where
                                home.id = m.group_id
                            )
                          end || '/-/milestones/' || m.iid,
                          case
                            when m.project_id is not null then format(',"project_id":%s', m.project_id)
                          end,
                          case
                            when m.group_id is not null then format(',"group_id":%s', m.group_id)
                          end
                        )
                      from
                        milestones m
                      where
                        m.id = i.milestone_id
                        and (
                          m.project_id = i.project_id
                          or m.group_id = any (t.traversal_ids)
                        )
                    )
                  end,
                  'null'
                ),
                array_to_string(assigned.texts, ','),
                coalesce(
                  (
                    select
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
                      )
                    from
                      directory_users u
                    where
                      u.id = i.author_id
                  ),
                  'null'
                ),
                upper(i.issue_type),
                coalesce((assigned.texts) [1], 'null'),
                i.public_notes_count + case
                  when t.reads_internal then i.internal_notes_count
                  else 0
                end,
                (
                  select
                    coalesce(sum(of_project.count), 0)
                  from
                    (
                      select
                        m.project_id,
                        count(distinct m.id) as count
                      from
                        merge_request_issues r
                        join merge_requests m on m.id = r.merge_request_id
                      where
                        r.issue_id = i.id
                        and r.closes
                        and m.target_branch = coalesce(
                          (
                            select
                              own.default_branch
                            from
                              directory_projects own
                            where
                              own.id = m.project_id
                          ),
                          m.target_branch
                        )
                      group by
                        m.project_id
                    ) of_project
                    cross join lateral (
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
                              when :is_admin::boolean then 50
                              when :viewer::bigint is null then 0
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
                                        m.user_id = :viewer::bigint
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
                                        join directory_memberships m on m.user_id = :viewer::bigint
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
                                        m.user_id = :viewer::bigint
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
                                        join directory_memberships m on m.user_id = :viewer::bigint
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
                                        and home.owner_id = :viewer::bigint
                                    ) held
                                ),
                                0
                              )
                            end as level
                          offset
                            0
                        ) held
                      where
                        p.id = of_project.project_id
                        and (
                          p.visibility = 'public'
                          or held.level >= 10
                          or (
                            p.visibility = 'internal'
                            and :viewer::bigint is not null
                            and not :is_external::boolean
                          )
                        )
                      offset
                        0
                    ) seen_merging
                  where
                    seen_merging.reads_merge_requests
                ),
                i.upvotes_count,
                i.downvotes_count,
                coalesce('"' || to_char(i.due_on, 'YYYY-MM-DD') || '"', 'null'),
                case
                  when i.confidential then 'true'
                  else 'false'
                end,
                case
                  when i.discussion_locked then 'true'
                  when not i.discussion_locked then 'false'
                  else 'null'
                end,
                i.issue_type,
                t.full_path || '/-/issues/' || i.iid,
                i.time_estimate,
                i.total_time_spent,
                coalesce(
                  '"' || (
                    case
                      when i.time_estimate > 0 then concat_ws(
                        ' ',
                        nullif(i.time_estimate / 576000, 0) || 'mo',
                        nullif(i.time_estimate % 576000 / 144000, 0) || 'w',
                        nullif(i.time_estimate % 144000 / 28800, 0) || 'd',
                        nullif(i.time_estimate % 28800 / 3600, 0) || 'h',
                        nullif(i.time_estimate % 3600 / 60, 0) || 'm',
                        nullif(i.time_estimate % 60 / 1, 0) || 's'
                      )
                    end
                  ) || '"',
                  'null'
                ),
                coalesce(
                  '"' || (
                    case
                      when i.total_time_spent > 0 then concat_ws(
                        ' ',
                        nullif(i.total_time_spent / 576000, 0) || 'mo',
                        nullif(i.total_time_spent % 576000 / 144000, 0) || 'w',
                        nullif(i.total_time_spent % 144000 / 28800, 0) || 'd',
                        nullif(i.total_time_spent % 28800 / 3600, 0) || 'h',
                        nullif(i.total_time_spent % 3600 / 60, 0) || 'm',
                        nullif(i.total_time_spent % 60 / 1, 0) || 's'
                      )
                    end
                  ) || '"',
                  'null'
                ),
                i.task_count,
                i.completed_task_count,
                case
                  when i.task_count > 0 then 'true'
                  else 'false'
                end,
                i.completed_task_count || ' of ' || i.task_count || ' checklist item' || case
                  when i.task_count = 1 then ''
                  else 's'
                end || ' completed',
                coalesce((i.weight)::text, 'null'),
                (
                  select
                    count(*)
                  from
                    issue_links held
                    join issues blocked on blocked.id = held.target_id
                  where
                    held.source_id = i.id
                    and held.link_type = 'blocks'
                    and blocked.project_id = i.project_id
                    and blocked.state = 'opened'
                    and not blocked.confidential
                ),
                i.project_id || '/issues/' || i.iid,
                i.project_id || '/issues/' || i.iid || '/notes',
                i.project_id || '/issues/' || i.iid || '/award_emoji',
                i.project_id,
                coalesce(
                  '"http://localhost:8080/api/v4/projects/' || (
                    case
                      when i.duplicated_to_id is not null then (
                        select
                          c.project_id || '/issues/' || c.iid
                        from
                          issues c
                        where
                          c.id = i.duplicated_to_id
                          and not c.confidential
                          and (
                            c.project_id = i.project_id
                            or exists (
                              select
                                1
                              from
                                directory_projects cp
                              where
                                cp.id = c.project_id
                                and cp.visibility = 'public'
                                and cp.issues_access_level = 'enabled'
                            )
                          )
                      )
                    end
                  ) || '"',
                  'null'
                ),
                i.iid,
                i.iid,
                t.full_path || '#' || i.iid,
                coalesce((i.moved_to_id)::text, 'null'),
                case
                  when i.imported_from <> 'none' then 'true'
                  else 'false'
                end,
                i.imported_from,
                coalesce((served.iid)::text, 'null'),
                case
                  when served.id is not null then format(
                    '{"id":%s,"iid":%s,"title":%s,"url":"/groups/%s","group_id":%s}',
                    served.id,
                    served.iid,
                    to_json(served.title),
                    served.full_path || '/-/epics/' || served.iid,
                    served.group_id
                  )
                  else 'null'
                end
              )
            from
              (
                select
                  array_agg(
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
                    )
                    order by
                      s.position
                  ) as texts
                from
                  issue_assignees s
                  join directory_users u on u.id = s.user_id
                where
                  s.issue_id = i.id
              ) assigned
              left join lateral (
                select
                  goal.id,
                  goal.iid,
                  goal.title,
                  goal.group_id,
                  its.full_path
                from
                  epic_issues serves
                  join epics goal on goal.id = serves.epic_id
                  cross join lateral (
                    select
                      g.id as group_id,
                      g.name,
                      g.path,
                      g.full_path,
                      g.parent_id,
                      g.avatar_url,
                      g.traversal_ids,
                      g.emails_enabled,
                      true as reads_epics,
                      held.level >= 10 as is_member,
                      held.level >= 15 as reads_confidential,
                      held.level >= 20 as reads_internal
                    from
                      directory_namespaces g
                      cross join lateral (
                        select
                          case
                            when :is_admin::boolean then 50
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
                                      m.user_id = :viewer::bigint
                                      and m.source_type = 'namespace'
                                      and m.source_id = any (g.traversal_ids)
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
                                      join directory_memberships m on m.user_id = :viewer::bigint
                                      and m.source_type = 'namespace'
                                      and m.source_id = any (invited.traversal_ids)
                                    where
                                      s.source_type = 'namespace'
                                      and s.source_id = any (g.traversal_ids)
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
                                      g.kind = 'user'
                                      and g.owner_id = :viewer::bigint
                                  ) held
                              ),
                              0
                            )
                          end as level
                        offset
                          0
                      ) held
                    where
                      g.id = goal.group_id
                      and g.kind = 'group'
                      and g.plan <> 'free'
                      and :viewer::bigint is not null
                      and (
                        g.visibility = 'public'
                        or held.level >= 10
                        or (
                          g.visibility = 'internal'
                          and not :is_external::boolean
                        )
                      )
                    offset
                      0
                  ) its
                where
                  serves.issue_id = i.id
                  and its.reads_epics
                  and (
                    not goal.confidential
                    or its.reads_confidential
                  )
              ) served on true
          ) as json,
          t.full_path || '/-/issues/' || i.iid as path,
          i.title as title
        from
          issues i
        where
          i.id = t.target_id
          and t.target_type = 'Issue'
        union all
        select
          (
            select
              format(
                '{"id":%s,"work_item_id":%s,"iid":%s,"group_id":%s,"parent_id":%s,"parent_iid":%s,"title":%s,"description":%s,"state":"%s","confidential":%s,"imported":%s,"imported_from":"%s","web_url":"http://localhost:8080/groups/%s","web_edit_url":"/groups/%s","reference":"&%s","references":{"short":"&%s","relative":"&%s","full":"%s"},"author":%s,"start_date":%s,"due_date":%s,"end_date":%s,"created_at":"%s","updated_at":"%s","closed_at":%s,"labels":[%s],"upvotes":%s,"downvotes":%s,"color":"%s","text_color":"%s","_links":{"self":"http://localhost:8080/api/v4/groups/%s","epic_issues":"http://localhost:8080/api/v4/groups/%s","group":"http://localhost:8080/api/v4/groups/%s","parent":%s}}',
                i.id,
                i.id,
                i.iid,
                i.group_id,
                coalesce((parent.id)::text, 'null'),
                coalesce((parent.iid)::text, 'null'),
                to_json(i.title),
                coalesce(to_json(i.description)::text, 'null'),
                i.state,
                case
                  when i.confidential then 'true'
                  else 'false'
                end,
                case
                  when i.imported_from <> 'none' then 'true'
                  else 'false'
                end,
                i.imported_from,
                t.full_path || '/-/epics/' || i.iid,
                t.full_path || '/-/epics/' || i.iid,
                i.iid,
                i.iid,
                i.iid,
                t.full_path || '&' || i.iid,
                coalesce(
                  (
                    select
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
                      )
                    from
                      directory_users u
                    where
                      u.id = i.author_id
                  ),
                  'null'
                ),
                coalesce(
                  '"' || to_char(
                    case
                      when i.start_is_fixed then i.start_fixed_on
                      else inherited.start_on
                    end,
                    'YYYY-MM-DD'
                  ) || '"',
                  'null'
                ),
                coalesce(
                  '"' || to_char(
                    case
                      when i.due_is_fixed then i.due_fixed_on
                      else inherited.due_on
                    end,
                    'YYYY-MM-DD'
                  ) || '"',
                  'null'
                ),
                coalesce(
                  '"' || to_char(
                    case
                      when i.due_is_fixed then i.due_fixed_on
                      else inherited.due_on
                    end,
                    'YYYY-MM-DD'
                  ) || '"',
                  'null'
                ),
                to_char((i.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                to_char((i.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                coalesce('"' || to_char((i.closed_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null'),
                coalesce(
                  (
                    select
                      string_agg(
                        to_json(l.title)::text,
                        ','
                        order by
                          l.title,
                          l.id
                      )
                    from
                      label_links ll
                      join labels l on l.id = ll.label_id
                      and l.group_id = any (t.traversal_ids)
                    where
                      ll.noteable_id = i.id
                      and ll.noteable_type = 'Epic'
                  ),
                  ''
                ),
                i.upvotes_count,
                i.downvotes_count,
                i.color,
                i.text_color,
                i.group_id || '/epics/' || i.iid,
                i.group_id || '/epics/' || i.iid || '/issues',
                i.group_id,
                coalesce('"' || ('http://localhost:8080/api/v4/groups/' || parent.group_id || '/epics/' || parent.iid) || '"', 'null')
              )
            from
              (
                with recursive
                  below (id, starts, ends, start_on, due_on, level, gates) as (
                    select
                      i.id,
                      true,
                      true,
                      null::date,
                      null::date,
                      1,
                      '{}'::bigint[]
                    union all
                    select
                      c.id,
                      b.starts
                      and not c.start_is_fixed,
                      b.ends
                      and not c.due_is_fixed,
                      case
                        when b.starts
                        and c.start_is_fixed then c.start_fixed_on
                      end,
                      case
                        when b.ends
                        and c.due_is_fixed then c.due_fixed_on
                      end,
                      b.level + 1,
                      case
                        when c.confidential
                        and c.group_id <> i.group_id then b.gates || c.group_id
                        else b.gates
                      end
                    from
                      below b
                      join epics c on c.parent_id = b.id
                    where
                      (
                        b.starts
                        or b.ends
                      )
                      and b.level < 7
                      and (
                        not c.confidential
                        or c.group_id <> i.group_id
                        or false
                      )
                  ),
                  near as materialized (
                    select
                      *
                    from
                      below
                    limit
                      2500
                  ),
                  shut as materialized (
                    select
                      array_agg(c.group_id) as groups
                    from
                      (
                        select distinct
                          unnest(gates) as group_id
                        from
                          near
                      ) c
                    where
                      not exists (
                        select
                          1
                        from
                          (
                            select
                              g.id as group_id,
                              g.name,
                              g.path,
                              g.full_path,
                              g.parent_id,
                              g.avatar_url,
                              g.traversal_ids,
                              g.emails_enabled,
                              true as reads_epics,
                              held.level >= 10 as is_member,
                              held.level >= 15 as reads_confidential,
                              held.level >= 20 as reads_internal
                            from
                              directory_namespaces g
                              cross join lateral (
                                select
                                  case
                                    when :is_admin::boolean then 50
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
                                              m.user_id = :viewer::bigint
                                              and m.source_type = 'namespace'
                                              and m.source_id = any (g.traversal_ids)
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
                                              join directory_memberships m on m.user_id = :viewer::bigint
                                              and m.source_type = 'namespace'
                                              and m.source_id = any (invited.traversal_ids)
                                            where
                                              s.source_type = 'namespace'
                                              and s.source_id = any (g.traversal_ids)
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
                                              g.kind = 'user'
                                              and g.owner_id = :viewer::bigint
                                          ) held
                                      ),
                                      0
                                    )
                                  end as level
                                offset
                                  0
                              ) held
                            where
                              g.id = c.group_id
                              and g.kind = 'group'
                              and g.plan <> 'free'
                              and :viewer::bigint is not null
                              and (
                                g.visibility = 'public'
                                or held.level >= 10
                                or (
                                  g.visibility = 'internal'
                                  and not :is_external::boolean
                                )
                              )
                            offset
                              0
                          ) there
                        where
                          there.reads_confidential
                      )
                  ),
                  seen as (
                    select
                      b.*
                    from
                      near b
                      cross join shut
                    where
                      shut.groups is null
                      or not b.gates && shut.groups
                  )
                select
                  least(
                    (
                      select
                        min(b.start_on)
                      from
                        seen b
                    ),
                    min(m.start_on) filter (
                      where
                        l.starts
                    )
                  ) as start_on,
                  greatest(
                    (
                      select
                        max(b.due_on)
                      from
                        seen b
                    ),
                    max(m.due_on) filter (
                      where
                        l.ends
                    )
                  ) as due_on
                from
                  (
                    select
                      b.starts,
                      b.ends,
                      l.issue_id
                    from
                      seen b
                      cross join lateral (
                        select
                          l.issue_id
                        from
                          epic_issues l
                        where
                          l.epic_id = b.id
                        offset
                          0
                      ) l
                    limit
                      5000
                  ) l
                  cross join lateral (
                    select
                      s.milestone_id
                    from
                      issues s
                    where
                      s.id = l.issue_id
                    offset
                      0
                  ) s
                  cross join lateral (
                    select
                      m.start_on,
                      m.due_on
                    from
                      milestones m
                    where
                      m.id = s.milestone_id
                    offset
                      0
                  ) m
              ) inherited
              left join lateral (
                select
                  up.id,
                  up.iid,
                  up.group_id
                from
                  epics up
                where
                  up.id = i.parent_id
                  and case
                    when up.group_id = i.group_id then not up.confidential
                    or false
                    else exists (
                      select
                        1
                      from
                        (
                          select
                            g.id as group_id,
                            g.name,
                            g.path,
                            g.full_path,
                            g.parent_id,
                            g.avatar_url,
                            g.traversal_ids,
                            g.emails_enabled,
                            true as reads_epics,
                            held.level >= 10 as is_member,
                            held.level >= 15 as reads_confidential,
                            held.level >= 20 as reads_internal
                          from
                            directory_namespaces g
                            cross join lateral (
                              select
                                case
                                  when :is_admin::boolean then 50
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
                                            m.user_id = :viewer::bigint
                                            and m.source_type = 'namespace'
                                            and m.source_id = any (g.traversal_ids)
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
                                            join directory_memberships m on m.user_id = :viewer::bigint
                                            and m.source_type = 'namespace'
                                            and m.source_id = any (invited.traversal_ids)
                                          where
                                            s.source_type = 'namespace'
                                            and s.source_id = any (g.traversal_ids)
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
                                            g.kind = 'user'
                                            and g.owner_id = :viewer::bigint
                                        ) held
                                    ),
                                    0
                                  )
                                end as level
                              offset
                                0
                            ) held
                          where
                            g.id = up.group_id
                            and g.kind = 'group'
                            and g.plan <> 'free'
                            and :viewer::bigint is not null
                            and (
                              g.visibility = 'public'
                              or held.level >= 10
                              or (
                                g.visibility = 'internal'
                                and not :is_external::boolean
                              )
                            )
                          offset
                            0
                        ) there
                      where
                        not up.confidential
                        or there.reads_confidential
                    )
                  end
              ) parent on true
          ) as json,
          'groups/' || t.full_path || '/-/epics/' || i.iid as path,
          i.title as title
        from
          epics i
        where
          i.id = t.target_id
          and t.target_type = 'Epic'
        union all
        select
          format(
            '{"id":%s,"description":%s,"name":%s,"name_with_namespace":%s,"path":%s,"path_with_namespace":%s,"created_at":"%s","web_url":"http://localhost:8080/%s"}',
            t.project_id,
            coalesce(to_json(t.description)::text, 'null'),
            to_json(t.name),
            to_json(t.name_with_namespace),
            to_json(t.path),
            to_json(t.full_path),
            to_char((t.project_created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            t.full_path
          ) as json,
          t.full_path || '/-/project_members?tab=access_requests' as path,
          t.full_path as title
        from
          directory_projects i
        where
          i.id = t.target_id
          and t.target_type = 'Project'
        union all
        select
          format(
            '{"id":%s,"name":%s,"path":%s,"kind":"group","full_path":%s,"parent_id":%s,"avatar_url":%s,"web_url":"http://localhost:8080/groups/%s"}',
            t.group_id,
            to_json(t.name),
            to_json(t.path),
            to_json(t.full_path),
            coalesce((t.parent_id)::text, 'null'),
            coalesce(to_json(t.avatar_url)::text, 'null'),
            t.full_path
          ) as json,
          'groups/' || t.full_path || '/-/group_members?tab=access_requests' as path,
          t.full_path as title
        from
          directory_namespaces i
        where
          i.id = t.target_id
          and t.target_type = 'Namespace'
      ) target on true
      left join notes n on n.id = t.note_id
      left join directory_users author on author.id = t.author_id
  ) as json
from
  directory_state state
