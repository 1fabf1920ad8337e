"""The messages of receivers whose job.toml has no template of its own."""

from __future__ import annotations

SLACK = """\
{% if test %}[TEST] {% endif %}
{% if count > 1 %}{{ count }} alerts{% if more %}, the newest {{ alerts | length }} of them{% endif %}:
{% endif %}
{% for one in alerts %}
*{{ one.severity }}* {{ one.rule }}: {{ one.summary }} ({{ one.time }})
{% endfor %}
"""

PAGERDUTY = """\
{% if test %}[TEST] {% endif %}
{{ alert.rule }}: {{ alert.summary }}{% if count > 1 %} (the newest of {{ count }} alerts){% endif %}
"""

SUBJECT = """\
{% if test %}[TEST] {% endif %}
{% set keys = alerts | map(attribute="key") | map("string") | unique | list %}
{% set rules = alerts | map(attribute="rule") | unique | list %}
{% if keys | length > 1 or rules | length > 1 %}
several alerts for {{ receiver }}
{% else %}
[{{ alert.severity }}] {{ alert.rule }}{% if key %} on {{ key }}{% endif %}
{% endif %}
"""
"""The same for all mails of one thread, or else some programs show them apart."""

TEXT = """\
{% if test %}
This is a test.

{% endif %}
{% if count > 1 %}
{{ count }} alerts{% if more %}, the newest {{ alerts | length }} of them{% endif %}:

{% for one in alerts %}
{{ one.time }} {{ one.severity }} {{ one.rule }}: {{ one.summary }}
{% endfor %}

The newest of them:

{% endif %}
{{ alert.summary }}

rule      {{ alert.pack }}/{{ alert.rule }}
severity  {{ alert.severity }}
time      {{ alert.time }}
{% for name, value in alert.key.items() %}
key       {{ name }} = {{ value }}
{% endfor %}
{% for name, value in alert.emit.items() %}
emitted   {{ name }} = {{ value }}
{% endfor %}
{% for name, ids in alert.events.items() %}
events    {{ name }}: {{ ids }}
{% endfor %}
{% if alert.tags %}
tags      {{ alert.tags }}
{% endif %}
{% if alert.runbook %}
runbook   {{ alert.runbook }}
{% endif %}
{% if alert.suppressed %}
withheld  {{ alert.suppressed }} like it since the last one
{% endif %}
alert     {{ alert.id }}
"""

HTML = """\
<!doctype html>
<html lang="en">
<body style="font-family: sans-serif">
{% if test %}
<p><strong>This is a test.</strong></p>
{% endif %}
{% if count > 1 %}
<p>{{ count }} alerts{% if more %}, the newest {{ alerts | length }} of them{% endif %}:</p>
<ul>
{% for one in alerts %}
<li>{{ one.time }} <strong>{{ one.severity }}</strong> {{ one.rule }}: {{ one.summary }}</li>
{% endfor %}
</ul>
<p>The newest of them:</p>
{% endif %}
<p><strong>{{ alert.severity }}</strong> {{ alert.summary }}</p>
<table>
<tr><th scope="row" align="left">rule</th><td>{{ alert.pack }}/{{ alert.rule }}</td></tr>
<tr><th scope="row" align="left">time</th><td>{{ alert.time }}</td></tr>
{% for name, value in alert.key.items() %}
<tr><th scope="row" align="left">key</th><td>{{ name }} = {{ value }}</td></tr>
{% endfor %}
{% for name, value in alert.emit.items() %}
<tr><th scope="row" align="left">emitted</th><td>{{ name }} = {{ value }}</td></tr>
{% endfor %}
{% for name, ids in alert.events.items() %}
<tr><th scope="row" align="left">events</th><td>{{ name }}: {{ ids }}</td></tr>
{% endfor %}
{% if alert.tags %}
<tr><th scope="row" align="left">tags</th><td>{{ alert.tags }}</td></tr>
{% endif %}
{% if alert.runbook %}
<tr><th scope="row" align="left">runbook</th><td>{{ alert.runbook }}</td></tr>
{% endif %}
{% if alert.suppressed %}
<tr><th scope="row" align="left">withheld</th><td>{{ alert.suppressed }} like it since the last one</td></tr>
{% endif %}
<tr><th scope="row" align="left">alert</th><td>{{ alert.id }}</td></tr>
</table>
</body>
</html>
"""
