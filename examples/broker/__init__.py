"""A broker of Apache Kafka on this machine, for tests, demos and benchmarks: loopback only, gone at the end.

    with brokers(folder) as kafka:
        KafkaProducer(bootstrap_servers=kafka.servers)

`make setup` fetches its jars by the pom.xml beside this file.
"""

from broker.process import Broker, BrokerError, lacking
from broker.running import Brokers, brokers
from broker.secured import Secured

__all__ = ["Broker", "BrokerError", "Brokers", "Secured", "brokers", "lacking"]
